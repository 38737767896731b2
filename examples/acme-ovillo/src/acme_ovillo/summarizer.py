"""A summary of the first line of every prompt."""

from __future__ import annotations

from ovillo.model.records import Role
from ovillo.sessions.summarizers import SummaryRequest
from ovillo.settings import Settings


class Headlines:
    name = "acme_headlines"
    #: It asks no model, so that it may be asked while somebody looks at a session.
    is_instant = True

    def summarize(self, request: SummaryRequest) -> str:
        prompts = [x.parts[0].text.partition("\n")[0] for x in request.messages if x.role is Role.USER and x.parts]
        # Four characters a token is on the safe side.
        return "\n".join(filter(None, [request.previous, *prompts]))[: request.max_tokens * 3]


def open_headlines(settings: Settings) -> Headlines:
    return Headlines()
