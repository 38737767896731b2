"""``/login`` and ``/logout``, where a server asks for keys: a key is turned into a cookie that stands for it.

What the cookie holds is ``security.key_passes``'s. A server that takes tokens of an issuer has no login of its own: the page says how
a browser comes in.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ovillo.interfaces.http.asgi import Scope
from ovillo.interfaces.http.browser import LOGIN_PATH, comes_from_own_page, cookies_of, port_of
from ovillo.interfaces.web.pages import Pages
from ovillo.interfaces.web.screens.preferences import FIRST_PAGE, own_path
from ovillo.interfaces.web.visits import Done, Form, View, Visit
from ovillo.model.errors import PermissionDenied
from ovillo.security.browser_passes import cookie_name
from ovillo.security.credentials import CredentialRefused

#: Where keys are asked for.
pages = Pages()
#: Where tokens of an issuer are.
token_pages = Pages()

_To = Annotated[str, Meta(max_length=4_096)]


class LoginQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    #: The page that was asked for.
    to: _To = FIRST_PAGE


class LoginData(Struct, omit_defaults=True):
    to: str
    #: Why the key was refused.
    refused: str | None = None
    #: Who issues the tokens that let in.
    issuer: str | None = None


class LoginForm(Form, kw_only=True):
    key: Annotated[str, Meta(max_length=1_000)]
    to: _To = FIRST_PAGE


class LogoutForm(Form, kw_only=True):
    pass


@pages(LOGIN_PATH, None, needs_services=False)
def login_page(visit: Visit[LoginQuery]) -> View:
    return _view(visit, LoginData(own_path(visit.query.to)))


@pages.change(LOGIN_PATH, None)
def log_in(visit: Visit[LoginForm]) -> Done | View:
    scope, keys, to = visit.exchange.asgi, visit.services.keys, own_path(visit.query.to)
    if not comes_from_own_page(scope):
        # Who is made to log in as somebody else would put down in their memory what they take for their own.
        raise PermissionDenied(
            "The form was sent from a page of another server.", hint="Open the login page of this server."
        )
    try:
        principal = keys.look_up(visit.query.key.strip())
        key = keys.live(principal.key_id or "")
    except CredentialRefused as refused:
        return _view(visit, LoginData(to, refused.reason), 401)
    cookie, seconds = keys.browsers.cookie(key, port_of(scope))
    return Done(to, cookie=f"{cookie}; Path=/; Max-Age={seconds}; {_attributes(visit, scope)}")


@pages.change("/logout", None)
def log_out(visit: Visit[LogoutForm]) -> Done:
    scope = visit.exchange.asgi
    for cookie in cookies_of(scope):
        visit.services.keys.browsers.end(cookie)
    gone = f"{cookie_name(port_of(scope))}=; Path=/; Max-Age=0; {_attributes(visit, scope)}"
    return Done(LOGIN_PATH, cookie=gone)


@token_pages(LOGIN_PATH, None)
def token_login_page(visit: Visit[LoginQuery]) -> View:
    return _view(visit, LoginData(own_path(visit.query.to), issuer=visit.services.settings.jwt_issuer or ""))


def _view(visit: Visit[LoginQuery] | Visit[LoginForm], data: LoginData, status: int = 200) -> View:
    return View("screens/login.html", data, visit.t("login.title"), status=status)


def _attributes(visit: Visit[LoginForm] | Visit[LogoutForm], scope: Scope) -> str:
    """A proxy may have taken the encryption off: the address people use counts."""
    is_secure = scope["scheme"] == "https" or (visit.services.settings.public_url or "").startswith("https://")
    return f"HttpOnly; SameSite=Strict{'; Secure' if is_secure else ''}"
