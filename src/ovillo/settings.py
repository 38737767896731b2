"""Effective settings: flag > environment > ``ovillo.toml`` > default.

Owns names, defaults, what a value may be, and where it came from. Imports only the model, so that every
interface may show settings; what is built from them is decided in ``ovillo.app`` (ADR 0003).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ovillo.model.errors import InvalidInput
from ovillo.model.plugins import added


@dataclass(frozen=True, slots=True)
class Settings:
    """``origins`` tells for each field name where its value came from: ``flag --NAME``, ``environment NAME``,
    ``file PATH`` or ``default``."""

    data_dir: Path
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    #: ``minilm`` (default), ``none``, or ``openai`` for a /v1/embeddings endpoint.
    embedder: str = "minilm"
    embedder_url: str | None = None
    embedder_model: str | None = None
    embedder_key: str | None = None
    #: ``mask`` (default) or ``off``.
    redaction: str = "mask"
    #: Readers to use; empty means all.
    readers: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ("history", "context")
    read_only: bool = False
    host: str = "127.0.0.1"
    port: int = 8765
    log_level: str = "warning"
    #: Detail in the log of the MCP server; the contents of memories are never logged.
    log_verbose: bool = False
    #: Nothing but the protocol on standard output of the stdio server. It is always kept so.
    strict_stdio_logs: bool = True
    watch: bool = True
    origins: Mapping[str, str] = field(default_factory=dict)
    #: The ``ovillo.toml`` that is looked at, whether or not it exists.
    config_file: Path | None = None
    #: Settings of the specifications whose feature comes later: name -> (value, origin). Read and shown, not used.
    later: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Things that are not wrong enough to stop for, such as ``OVILLO_`` variables nobody knows.
    warnings: tuple[str, ...] = ()

    @property
    def database(self) -> Path:
        return self.data_dir / "ovillo.db"


@dataclass(frozen=True, slots=True)
class Shown:
    """One setting as ``ovillo config show`` prints it."""

    name: str
    value: Any
    origin: str
    #: Has a place in a later version and does nothing yet.
    used: bool = True


def load_settings(
    environment: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    config: Path | None = None,
) -> Settings:
    """The effective settings. ``flags`` holds fields given on the command line (``None`` means not given).

    Raises InvalidInput naming the setting, its value, where it stands and what is allowed.
    """
    path, named = _config_path(environment, config)
    file = _read_file(path, must_exist=named)
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in _OPTIONS:
        value, origin = _value(option, given, environment, file, path)
        values[option.name], origins[option.name] = value, origin
    if values["embedder"] == "openai" and not values["embedder_url"]:
        raise InvalidInput(
            "embedder is 'openai', but embedder_url is not set.",
            hint="Set OVILLO_EMBEDDER_URL to the address of a /v1/embeddings endpoint, or use embedder 'minilm'.",
        )
    return Settings(
        home=_home(environment),
        environment=dict(environment),
        origins=origins,
        config_file=path,
        later=_later(environment, file, path),
        warnings=tuple(_unknown_variables(environment)),
        **values,
    )


def shown_settings(settings: Settings) -> list[Shown]:
    """Every setting with its value and origin; secrets masked."""
    rows = []
    for option in _OPTIONS:
        value = getattr(settings, option.name)
        if option.secret and value:
            value = _mask(value)
        rows.append(Shown(option.name, _plain(value), settings.origins.get(option.name, "default")))
    rows += [Shown(name, _plain(value), origin, used=False) for name, (value, origin) in sorted(settings.later.items())]
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^/@\s]+@", "***@", value)
    return list(value) if isinstance(value, tuple) else value


def _mask(secret: str) -> str:
    return f"***{secret[-4:]}" if len(secret) >= 16 else "***"


# --- what a value may be ---------------------------------------------------------------------------------


class _Refused(ValueError):
    """The value is none of what is allowed; the message says what is."""


def _choice(*allowed: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        word = str(value).strip().lower()
        if word not in allowed:
            near = get_close_matches(word, allowed, n=1)
            raise _Refused(f"one of {', '.join(allowed)}" + (f"; did you mean {near[0]}?" if near else ""))
        return word

    return parse


def _embedder(value: Any) -> str:
    word = str(value).strip()
    if word.lower() in {"minilm", "none", "openai"}:
        return word.lower()
    others = sorted(added("ovillo.embedders"))
    return word if word in others else _choice("minilm", "none", "openai", *others)(word)


def _flag(value: Any) -> bool:
    word = str(value).strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise _Refused("true or false")


def _port(value: Any) -> int:
    try:
        number = int(str(value).strip())
    except ValueError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= 65_535:
        raise _Refused("a number from 0 to 65535 (0 takes a free port)")
    return number


def _names(value: Any) -> tuple[str, ...]:
    words = value if isinstance(value, list | tuple) else str(value).split(",")
    if not all(isinstance(word, str) for word in words):
        raise _Refused("names separated by commas")
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _path(value: Any) -> Path:
    if not isinstance(value, str | Path) or "\0" in str(value):
        raise _Refused("the path of a folder")
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError:
        raise _Refused("the path of a folder; whose home ~ is meant could not be told") from None


def _url(value: Any) -> str:
    text = str(value).strip()
    if not re.match(r"https?://[^\s/]+", text):
        raise _Refused("an address that begins with http:// or https://")
    return text.rstrip("/")


def _text(value: Any) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise _Refused("text")
    return str(value).strip()


@dataclass(frozen=True, slots=True)
class _Option:
    name: str
    parse: Callable[[Any], Any]
    default: Callable[[], Any]
    #: Names in the environment beside ``OVILLO_`` + the name in capitals.
    aliases: tuple[str, ...] = ()
    secret: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        return (f"OVILLO_{self.name.upper()}", *self.aliases)


def _default_data_dir() -> Path:
    import platformdirs  # start-up cost: most starts are told their folder or need it only here

    return Path(platformdirs.user_data_dir("ovillo", appauthor=False))


_OPTIONS = (
    _Option("data_dir", _path, _default_data_dir),
    _Option("embedder", _embedder, lambda: "minilm"),
    _Option("embedder_url", _url, lambda: None),
    _Option("embedder_model", _text, lambda: None),
    _Option("embedder_key", _text, lambda: None, secret=True),
    _Option("redaction", _choice("mask", "off"), lambda: "mask"),
    _Option("readers", _names, lambda: ()),
    _Option("toolsets", _names, lambda: ("history", "context")),
    _Option("read_only", _flag, lambda: False),
    _Option("host", _text, lambda: "127.0.0.1"),
    _Option("port", _port, lambda: 8765),
    _Option("log_level", _choice("debug", "info", "warning", "error"), lambda: "warning"),
    _Option("log_verbose", _flag, lambda: False, ("MCP_LOG_VERBOSE",)),
    _Option("strict_stdio_logs", _flag, lambda: True, ("STRICT_STDIO_LOGS",)),
    _Option("watch", _flag, lambda: True),
)

#: Names that specifications promise for features of later issues (DESIGN section 14). Other programs use the same
#: variables, so a value that means nothing to us is shown and never an error.
LATER = (
    "UNIFIED_MEMORY",
    "SHARED_MEMORY_DIR",
    "CHROMA_HOST",
    "CHROMA_PORT",
    "CHROMA_TENANT",
    "CHROMA_DATABASE",
    "CHROMA_COLLECTION",
    "MCP_OCS_FORCE_JSON",
    "ENABLE_ORCH_CONTEXT",
    "ORCH_CONTEXT_MODE",
    "CONTEXT_TOPK",
    "CONTEXT_TIMEOUT_MS",
    "CONTEXT_SUMMARY_BYTES",
)
#: Variables that are read elsewhere: the file itself, who is calling, folders of a reader.
_ELSEWHERE = ("OVILLO_CONFIG", "OVILLO_SESSION_ID", "OVILLO_AIDER_DIRS", "OVILLO_CRUSH_DIRS")


# --- where a value comes from ----------------------------------------------------------------------------


def _value(
    option: _Option, flags: Mapping[str, Any], environment: Mapping[str, str], file: Mapping[str, Any], path: Path
) -> tuple[Any, str]:
    if option.name in flags:
        flag = f"flag --{option.name.replace('_', '-')}"
        return _parsed(option, flags[option.name], flag), flag
    for variable in option.variables:
        # A variable that is set to nothing is how shells and service files say "not set".
        if environment.get(variable, "").strip():
            origin = f"environment {variable}"
            return _parsed(option, environment[variable], origin), origin
    if option.name in file:
        origin = f"file {path}"
        return _parsed(option, file[option.name], origin), origin
    return option.default(), "default"


def _parsed(option: _Option, value: Any, origin: str) -> Any:
    try:
        return option.parse(value)
    except _Refused as refused:
        shown = "(hidden)" if option.secret else repr(str(value)[:200])
        raise InvalidInput(
            f"The setting {option.name} is {shown} ({origin}).", hint=f"It has to be {refused}."
        ) from None


def _config_path(environment: Mapping[str, str], config: Path | None) -> tuple[Path, bool]:
    """The file and whether somebody named it. Never the working folder: a checked-out project must not be able to
    redirect somebody's history."""
    if config is not None:
        return config.expanduser().absolute(), True
    if environment.get("OVILLO_CONFIG", "").strip():
        return Path(environment["OVILLO_CONFIG"]).expanduser().absolute(), True
    if environment.get("XDG_CONFIG_HOME", "").strip():
        return Path(environment["XDG_CONFIG_HOME"]) / "ovillo" / "ovillo.toml", False
    import platformdirs  # see _default_data_dir

    return Path(platformdirs.user_config_dir("ovillo", appauthor=False)) / "ovillo.toml", False


def _read_file(path: Path, *, must_exist: bool) -> dict[str, Any]:
    """What the file says, its names known. Raises InvalidInput."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if must_exist:
            raise InvalidInput(
                f"There is no configuration file {path}.", hint="Correct --config or OVILLO_CONFIG."
            ) from None
        return {}
    except (OSError, UnicodeError) as error:
        if not must_exist and isinstance(error, NotADirectoryError):
            return {}
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidInput(
            f"The configuration file {path} cannot be read: {reason}.", hint="Correct or remove it."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            f"The configuration file {path} is not TOML: {error}.",
            hint='Write lines such as: port = 8765, or embedder = "none".',
        ) from None
    known = [option.name for option in _OPTIONS] + [name.lower() for name in LATER]
    for name in values:
        if name not in known:
            near = get_close_matches(name.lower().replace("-", "_"), known, n=2, cutoff=0.6)
            offer = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(known[: len(_OPTIONS)])}."
            raise InvalidInput(f"The configuration file {path} sets {name!r}, which ovillo does not know.", hint=offer)
    return values


def _home(environment: Mapping[str, str]) -> Path:
    for variable in ("HOME", "USERPROFILE"):
        if environment.get(variable, "").strip():
            return Path(environment[variable])
    try:
        return Path.home()
    except RuntimeError:
        raise InvalidInput("Whose home folder to read could not be told.", hint="Set HOME.") from None


def _later(environment: Mapping[str, str], file: Mapping[str, Any], path: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for name in LATER:
        for variable in (f"OVILLO_{name}", name):
            if environment.get(variable, "").strip():
                found[name.lower()] = (environment[variable], f"environment {variable}")
                break
        else:
            if name.lower() in file:
                found[name.lower()] = (str(file[name.lower()]), f"file {path}")
    return found


def _unknown_variables(environment: Mapping[str, str]) -> list[str]:
    known = {variable for option in _OPTIONS for variable in option.variables}
    known |= {*_ELSEWHERE, *(f"OVILLO_{name}" for name in LATER)}
    warnings = []
    for name in sorted(environment):
        # Completion of the shell sets variables of its own, with a leading underscore or this ending.
        if name.startswith("OVILLO_") and name not in known and not name.endswith("_COMPLETE"):
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            offer = f"; did you mean {near[0]}?" if near else ""
            warnings.append(f"The variable {name} is no setting of ovillo{offer}")
    return warnings
