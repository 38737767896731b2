"""What a secret looks like: one rule a kind, as data for RE2.

Owns patterns only. Whether a value that stands after a key word is a secret or a placeholder is decided in
``secret_values``; applying the rules is ``redaction``'s work. Token shapes come from the vendors' public
documentation of their key formats. RE2 syntax: no look-around, and every pattern runs in linear time, so
unbounded repetition is cheaper here than counted repetition.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Check(Enum):
    """How the captured value is judged before it is masked."""

    #: The shape alone says it; only obvious fillers (``xxxx``) are spared.
    SHAPE = "shape"
    #: After a word for a password: short and simple values count too.
    PASSWORD = "password"
    #: After words that name a credential exactly (``client_secret``): must look random.
    CREDENTIAL = "credential"
    #: After a word with other meanings (``token``): must be longer, and no identifier.
    LOOSE = "loose"
    #: The body of a PEM block.
    PEM = "pem"
    #: The password inside a URL.
    URL = "url"


@dataclass(frozen=True, slots=True)
class Rule:
    """``pattern`` captures the secret in its first group, or is the secret when it has none."""

    kind: str
    pattern: str
    check: Check = Check.SHAPE


# --- tokens that show by themselves what they are ------------------------------------------------------

_TOKENS = (
    Rule("private_key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:([\s\S]*?)-----END [A-Z0-9 ]*PRIVATE KEY"
         r"(?: BLOCK)?-----|((?:\s|\\[nrt]|[A-Za-z0-9+/=])*))", Check.PEM),
    Rule("age_key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    Rule("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    Rule("aws_access_key_id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    Rule("google_api_key", r"\bAIza[0-9A-Za-z_-]{35}"),
    Rule("google_oauth_token", r"\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}|\b1//0[0-9A-Za-z_-]{30,}"),
    Rule("azure_key", r"(?i)(?:AccountKey|SharedAccessKey)=([0-9A-Za-z+/]{40,}={0,2})"),
    Rule("azure_client_secret", r"\b[0-9A-Za-z_~.-]{3}[78]Q~[0-9A-Za-z_~.-]{31,34}"),
    Rule("azure_sas", r"[?&;](?:sig|Signature)=([0-9A-Za-z%+/]{30,}={0,2})"),
    Rule("github_token", r"\bgh[pousr]_[0-9A-Za-z]{30,}|\bgithub_pat_[0-9A-Za-z_]{30,}"),
    Rule("gitlab_token", r"\bgl(?:pat|dt|rt|ptt|soat|cbt|ft|imt|agent|oas)-[0-9A-Za-z_.-]{20,}|\bGR1348941[0-9A-Za-z_-]{20,}"),
    Rule("slack_token", r"\bxox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,}|\bxapp-[0-9]-[0-9A-Za-z-]{20,}"),
    Rule("slack_webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_-]{20,})"),
    Rule("discord_webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]+/([0-9A-Za-z_-]{30,})"),
    Rule("discord_token", r"\b[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,40}"),
    Rule("ovillo_key", r"\bovk_[a-z2-7]{12}_[a-z2-7]{50,}"),
    Rule("stripe_key", r"\b[srp]k_(?:live|test)_[0-9A-Za-z]{16,}|\bwhsec_[0-9A-Za-z+/]{24,}"),
    Rule("anthropic_key", r"\bsk-ant-[0-9A-Za-z_-]{20,}"),
    Rule("openrouter_key", r"\bsk-or-[0-9A-Za-z-]{20,}"),
    Rule("openai_key", r"\bsk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{20,}|\bsk-[0-9A-Za-z]{32,}"),
    Rule("npm_token", r"\bnpm_[0-9A-Za-z]{30,}|_authToken\s*=\s*[\"']?([0-9A-Za-z_=-]{20,})"),
    Rule("pypi_token", r"\bpypi-[0-9A-Za-z_-]{40,}"),
    Rule("clojars_token", r"\bCLOJARS_[0-9a-f]{60}"),
    Rule("rubygems_token", r"\brubygems_[0-9a-f]{40,}"),
    Rule("docker_token", r"\bdckr_(?:pat|oat)_[0-9A-Za-z_-]{20,}"),
    Rule("telegram_token", r"\b[0-9]{8,10}:[0-9A-Za-z_-]{34,36}\b"),
    Rule("twilio_key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    Rule("sendgrid_key", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    Rule("mailgun_key", r"\bkey-[0-9a-f]{32}\b"),
    Rule("mailchimp_key", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    Rule("shopify_token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    Rule("square_token", r"\bsq0(?:atp|csp|idp)-[0-9A-Za-z_-]{22,}|\bEAAA[0-9A-Za-z_-]{60}\b"),
    Rule("hugging_face_token", r"\bhf_[0-9A-Za-z]{30,}"),
    Rule("digitalocean_token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    Rule("databricks_token", r"\bdapi[0-9a-f]{32}\b"),
    Rule("groq_key", r"\bgsk_[0-9A-Za-z]{40,}"),
    Rule("xai_key", r"\bxai-[0-9A-Za-z]{40,}"),
    Rule("perplexity_key", r"\bpplx-[0-9A-Za-z]{40,}"),
    Rule("replicate_token", r"\br8_[0-9A-Za-z]{36,}"),
    Rule("linear_key", r"\blin_(?:api|oauth)_[0-9A-Za-z]{30,}"),
    Rule("notion_token", r"\bntn_[0-9A-Za-z]{40,}|\bsecret_[0-9A-Za-z]{43}\b"),
    Rule("figma_token", r"\bfigd_[0-9A-Za-z_-]{36,}"),
    Rule("postman_key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("new_relic_key", r"\bNRAK-[0-9A-Z]{27}"),
    Rule("grafana_token", r"\bglsa_[0-9A-Za-z]{32}_[0-9a-f]{8}|\bglc_[0-9A-Za-z+/=]{32,}"),
    Rule("vault_token", r"\bhv[sbr]\.[0-9A-Za-z_-]{20,}"),
    Rule("terraform_token", r"\b[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{50,}"),
    Rule("doppler_token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z._-]{30,}"),
    Rule("supabase_key", r"\bsbp_[0-9a-f]{40}|\bsb_secret_[0-9A-Za-z_-]{20,}"),
    Rule("sentry_token", r"\bsntry[su]_[0-9A-Za-z_=+/-]{40,}"),
    Rule("atlassian_token", r"\bATATT3[0-9A-Za-z_=-]{60,}|\bATBB[0-9A-Za-z]{28,}"),
    Rule("planetscale_token", r"\bpscale_(?:tkn|oauth|pw)_[0-9A-Za-z_.-]{30,}"),
    Rule("airtable_token", r"\bpat[0-9A-Za-z]{14}\.[0-9a-f]{64}"),
    Rule("tailscale_key", r"\btskey-[a-z]+-[0-9A-Za-z_-]{15,}"),
    Rule("artifactory_token", r"\bAKCp[0-9A-Za-z]{60,}"),
    Rule("flyio_token", r"\bfm[12]_[0-9A-Za-z+/=_-]{60,}"),
    Rule("session_cookie", r"(?i)\b(?:sessionid|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid)=([0-9a-z%._~+/-]{16,})"),
    Rule("heroku_key", r"\bHRKU-[0-9A-Za-z_-]{36,}"),
)  # fmt: skip

# --- values that a word before them gives away ---------------------------------------------------------

#: Words for a password in English, Spanish, French, Portuguese (and German, which clients print too).
_PASSWORD_WORDS = (
    r"passwords?|passwd|passphrase|passcode|pwd|(?:\b|[_.-])pass|db[_-]?pass|userpass|"
    r"contrase(?:ñ|n\x{303}|n|ny)as?|mots?[ _-]?de[ _-]?passe|motdepasse|(?:\b|_)mdp|senhas?|palavra[ _-]passe|passwort|kennwort"
)
#: Words that name a credential and nothing else.
_CREDENTIAL_WORDS = (
    r"api[ _-]?key|api[ _-]?token|api[ _-]?secret|secret[ _-]?key(?:[_-]?base)?|access[ _-]?key(?:[_-]?id)?|"
    r"secret[ _-]?access[ _-]?key|(?:client|app|consumer|webhook|jwt|oauth|signing|session|cookie|shared)[ _-]?secret|"
    r"(?:auth|access|refresh|bearer|session|security|id|bot|oauth|deploy|personal[ _-]access|private)[ _-]?token|"
    r"(?:private|encryption|signing|master|account|storage|service|deploy|license|subscription|admin|auth)[ _-]?key|"
    r"clave[ _-](?:de[ _-](?:la[ _-])?)?(?:api|acceso|secreta|privada|cifrado|maestra)|"
    r"cl(?:é|e\x{301}|e)[ _-](?:d['’ e][ _-]?)?(?:l['’])?(?:api|acc(?:è|e)s|secr(?:è|e)te|priv(?:é|e)e|chiffrement)|"
    r"chave[ _-](?:d[ea][ _-])?(?:api|acesso|secreta|privada|criptografia)|"
    r"token[ _-](?:de[ _-](?:acceso|acesso|api)|d['’]acc(?:è|e)s|secreto)|jeton(?:[ _-](?:d['’]acc(?:è|e)s|api))?"
)
#: Words with other meanings too.
_LOOSE_WORDS = (
    r"secret|token|credentials?|auth|clave|secreto|credencial(?:es)?|segredo|credencia(?:l|is)|cl(?:é|e\x{301})"
)

#: ``PASSWORD_PROD=``, ``api_key2:``
_SUFFIX = (
    r"(?:_?[0-9]{1,2}|_(?:prod|production|dev|test|testing|staging|live|value|main|backup|old|new|admin|user|root))?"
)
#: Assignment in code, JSON (also JSON inside a JSON string), YAML, env files; and "is" in prose.
_SEPARATOR = (
    r"(?:\\{0,3}[\"'\]]{0,2}(?:\[\])?[ \t]*(?::[ \t]*(?:str|string|String|&str|char\*)[ \t]*=|=>|:=|={1,2}|:)[ \t]*|"
    r"[ \t]+(?:is|es|est|é|era|was|sera|será)[ \t:]+)"
)
#: In quotes of one kind, or up to the next blank; what an unquoted value drags along is cut off later.
_VALUE = (
    r"(?:@?\\{0,3}\"([^\s\"\\]{6,})|\\{0,3}'([^\s'\\]{6,})|`([^\s`\\]{6,})|[«“][ \x{a0}\x{202f}]?([^\s\"»”]{6,})|"
    r"([^\s\"'`\\]{6,}))"
)

#: "password for the staging database: …", "la contraseña del servidor nuevo es …"
_PROSE = r"(?:[ \t]+[^\s:=\"'|(){},;]+){1,4}(?:[ \t\x{a0}\x{202f}]?:[ \t]+|[ \t]+(?:is|es|est|é)[ \t:]+)"

#: Up to the user of a curl command, which may go on over lines.
_CURL_USER = r"\bcurl(?:[^\n|]|\\\r?\n)*[ \t](?:-u|--user)[ \t=]*"

#: An element's text, a table's next cell, the second argument of a call.
_APART = (
    r"(?:[\"']?>([^\s<>]{6,})</|[`*]{0,2}[ \t]+\|[ \t]+`?([^\s|`]{6,})`?[ \t]+\||"
    r"\\{0,3}[\"'][ \t]*,[ \t]*\\{0,3}[\"']([^\s\"'\\]{6,})\\{0,3}[\"'][ \t]*\)|"
    r"\(\\{0,3}[\"']([^\s\"'\\]{6,})\\{0,3}[\"']|[ \t]+[\"']([^\s\"'\\]{6,})[\"'];)"
)

_ASSIGNMENTS = (
    Rule("password", rf"(?i)(?:{_PASSWORD_WORDS}){_SUFFIX}{_SEPARATOR}{_VALUE}", Check.PASSWORD),
    Rule("secret", rf"(?i)(?:{_CREDENTIAL_WORDS}){_SUFFIX}{_SEPARATOR}{_VALUE}", Check.CREDENTIAL),
    Rule("secret", rf"(?i)(?:{_LOOSE_WORDS}){_SUFFIX}{_SEPARATOR}{_VALUE}", Check.LOOSE),
    Rule("password", rf"(?i)(?:{_PASSWORD_WORDS}){_SUFFIX}{_APART}", Check.PASSWORD),
    Rule("secret", rf"(?i)(?:{_CREDENTIAL_WORDS}){_SUFFIX}{_APART}", Check.CREDENTIAL),
    Rule("password", rf"(?i)\b(?:{_PASSWORD_WORDS}){_PROSE}{_VALUE}", Check.PASSWORD),
    Rule("secret", rf"(?i)\b(?:{_CREDENTIAL_WORDS}){_PROSE}{_VALUE}", Check.CREDENTIAL),
    Rule("password", rf"(?i)--?(?:{_PASSWORD_WORDS})[ \t]+{_VALUE}", Check.PASSWORD),
    Rule("secret", rf"(?i)--(?:[a-z]+-)?(?:{_CREDENTIAL_WORDS}|token|secret)[ \t]+{_VALUE}", Check.CREDENTIAL),
    Rule("password", rf"(?i)\blogin[ \t]+\S+\s+password[ \t]+{_VALUE}", Check.PASSWORD),
    Rule("password", r"(?i)\b(?:identified[ \t]+by|password)[ \t]+'([^'\s]{4,})'", Check.PASSWORD),
    Rule("password", r"\bmysql(?:dump|admin|import)?[^\n|;]*[ \t]-p['\"]?([^\s'\"]{6,})", Check.PASSWORD),
    Rule("password", r"\b(?:sshpass[ \t]+-p|redis-cli[^\n|;]*[ \t]-a|docker[ \t]+login[^\n|;]*[ \t]-p)[ \t]*['\"]?([^\s'\"]{6,})",
         Check.PASSWORD),
    Rule("basic_auth", _CURL_USER + r"['\"]?[^\s:'\"<>]*['\"]?:['\"]?([^\s'\"<>\[\]]{4,})", Check.URL),
    Rule("basic_auth", _CURL_USER + r"['\"]?([^\s:'\"<>]{8,}):['\"]?(?:\s|$)", Check.CREDENTIAL),
    Rule("basic_auth", r"(?i)authorization\\{0,3}[\"']{0,2}[ \t]*[:=,][ \t]*\\{0,3}[\"'`]?basic[ \t]+([0-9A-Za-z+/_-]{8,}={0,2})",
         Check.SHAPE),
    Rule("bearer_token", r"(?i)authorization\\{0,3}[\"']{0,2}[ \t]*[:=,][ \t]*\\{0,3}[\"'`]?(?:[a-z-]{3,16}[ \t]+)?"
         r"([0-9A-Za-z._~+/=@-]{8,})", Check.CREDENTIAL),
    Rule("bearer_token", r"(?i)\bbearer[ \t]+([0-9A-Za-z._~+/=-]{16,})", Check.CREDENTIAL),
    Rule("database_url", r"(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver|oracle|clickhouse|"
         r"cockroachdb|nats|couchdb|cassandra|neo4j|bolt|ldaps?)(?:\+[a-z0-9]+)*://[^\s:/@\"'`<>]*:([^\s/\"'`<>@]{3,}(?:@[^\s/\"'`<>@]+)*)@",
         Check.URL),
    Rule("basic_auth_url", r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@\"'`<>\[\]]*:([^\s/\"'`<>@\[\]]{3,})@", Check.URL),
)  # fmt: skip

#: More telling rules first: where two overlap, the first names the kind.
RULES: tuple[Rule, ...] = _TOKENS + _ASSIGNMENTS

#: A whole key of a JSON object, with what its value is then checked as.
KEY_PATTERNS: tuple[tuple[str, str, Check], ...] = (
    ("password", rf"(?i).*(?:{_PASSWORD_WORDS}){_SUFFIX}", Check.PASSWORD),
    ("secret", rf"(?i).*(?:{_CREDENTIAL_WORDS}){_SUFFIX}", Check.CREDENTIAL),
    ("secret", rf"(?i).*(?:{_LOOSE_WORDS}){_SUFFIX}", Check.LOOSE),
)
