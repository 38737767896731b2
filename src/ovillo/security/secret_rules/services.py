"""Tokens whose shape alone tells the service: prefixes and lengths as their makers document them.

One line a service, by family; where the prefix is short or a common word, the rest must look random
(``Check.TOKEN``).
"""

from __future__ import annotations

import re
from dataclasses import replace

from ovillo.security.secret_rules.rule import Check, Rule

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

CLOUD = (
    Rule("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    Rule("aws_access_key_id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    Rule("aws_secret_key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}[\"'`]?[\s,:;|/]+[\"'`]?([0-9A-Za-z/+]{40})\b"),
    Rule("aws_secret_key", r"\[redacted:aws_access_key_id:[0-9a-f]{6}\][\"'`]?[\s,:;|/]+[\"'`]?([0-9A-Za-z/+]{40})\b"),
    Rule("aws_session_token", r"\b(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[0-9A-Za-z/+=]{50,}"),
    Rule("aws_bedrock_key", r"\bABSK[0-9A-Za-z+/]{100,}={0,2}|\bbedrock-api-key-[0-9A-Za-z+/=]{20,}"),
    Rule("amazon_token", rf"\bamzn\.mws\.{_UUID}|\bamzn1\.oa2-cs\.v1\.[0-9a-f]{{60,}}|\bAtz[ar]\|[0-9A-Za-z_/+=-]{{80,}}"),
    Rule("google_api_key", r"\bAIza[0-9A-Za-z_-]{35}|\bAQ\.Ab[0-9A-Za-z_-]{40,}"),
    Rule("google_oauth_token", r"\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}|\b1//0[0-9A-Za-z_-]{30,}"),
    Rule("firebase_key", r"\bAAAA[0-9A-Za-z_-]{7}:[0-9A-Za-z_-]{100,}"),
    Rule("azure_key", r"(?i)(?:AccountKey|SharedAccessKey)=([0-9A-Za-z+/]{40,}={0,2})"),
    Rule("azure_key", r"\b[0-9A-Za-z]+JQQJ99[0-9A-Za-z]{20,}|\b[0-9A-Za-z/+]+\+(?:AS[tb]|ABa|AEh|ACR|AMC)[0-9A-Za-z]{5,8}={0,2}",
         gate=r"JQQJ99|\+(?:AS[tb]|ABa|AEh|ACR|AMC)[0-9A-Za-z]{5}"),
    Rule("azure_key", r"\b[0-9A-Za-z_-]+Az(?:Fu|Se)[0-9A-Za-z_-]{5,}={0,2}", Check.TOKEN, r"Az(?:Fu|Se)"),
    Rule("azure_client_secret", r"\b[0-9A-Za-z_~.-]{3}[78]Q~[0-9A-Za-z_~.-]{31,34}", gate="Q~"),
    Rule("azure_sas", r"[?&;](?:amp;)?(?:sig|Signature|X-(?:Amz|Goog)-(?:Signature|Security-Token))=([0-9A-Za-z%+/_~-]{30,}={0,2})"),
    Rule("aws_signature", r"\bAWS4-HMAC-SHA256[ \t]+Credential=[^\n]*\bSignature=([0-9a-f]{64})"),
    Rule("google_service_account", r"\beyJ0eXBlIjo(?:gI|i)[0-9A-Za-z+/_-]{60,}={0,2}"),
    Rule("docker_auth", r"\beyJhdXRocyI6[0-9A-Za-z+/_-]{20,}={0,2}"),
    Rule("azure_devops_token", r"\b[0-9A-Za-z]+AZDO[0-9A-Za-z]{4}\b", Check.TOKEN, "AZDO"),
    # Base32 without a digit in its first 36 characters is as good as never drawn.
    Rule("azure_devops_token", r"\b[a-z2-7]{52}\b", Check.TOKEN, "[2-7][a-z2-7]{16}"),
    Rule("alibaba_key", r"\bLTAI[0-9A-Za-z]{12,26}\b", Check.TOKEN),
    Rule("tencent_key", r"\bAKID[0-9A-Za-z]{32}\b"),
    Rule("yandex_key", r"\bAQVN[0-9A-Za-z_-]{35,38}|\by[0-3]_[0-9A-Za-z_-]{50,}|\bYC[OPMN][0-9A-Za-z_-]{37}\b", Check.TOKEN),
    Rule("digitalocean_token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    Rule("heroku_key", r"\bHRKU-[0-9A-Za-z_-]{36,}"),
    Rule("cloudflare_key", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|\bcf[ua]t_[0-9A-Za-z_-]{36,}"),
    Rule("flyio_token", r"\bfm[12]_[0-9A-Za-z+/=_-]{60,}|\bfo1_[0-9A-Za-z_-]{40,}"),
    Rule("netlify_token", r"\bnf[pcoub]_[0-9A-Za-z]{36,}"),
    Rule("vercel_token", r"\bvc[kpaior]_[0-9A-Za-z]{24,}|\bvercel_blob_rw_[0-9A-Za-z]{16}_[0-9A-Za-z]{20,}"),
    Rule("render_key", r"\brnd_[0-9A-Za-z]{24,}", Check.TOKEN),
    Rule("scaleway_key", r"\bSCW[0-9A-Z]{17}\b", Check.TOKEN),
    Rule("openshift_token", r"\bsha256~[0-9A-Za-z_-]{43}"),
    Rule("tailscale_key", r"\btskey-[a-z]+-[0-9A-Za-z_-]{15,}"),
    Rule("ngrok_token", r"\b[12][0-9A-Za-z]{26}_[0-9A-Za-z]{20,24}\b", Check.TOKEN),
    Rule("netbird_key", r"\bnbp_[0-9A-Za-z]{36}\b"),
)  # fmt: skip

CODE_AND_PACKAGES = (
    Rule("github_token", r"\bgh[pousr]_[0-9A-Za-z]{30,}|\bgithub_pat_[0-9A-Za-z_]{30,}"),
    Rule("gitlab_token", r"\bgl(?:pat|dt|rt|rtr|ptt|soat|cbt|ft|ffct|imt|agent|oas|wt)-[0-9A-Za-z_.-]{20,}|"
         r"\bGR1348941[0-9A-Za-z_-]{20,}|\b_gitlab_session=[0-9a-f]{32}"),
    Rule("atlassian_token", r"\bAT(?:ATT|CTT)3[0-9A-Za-z_=-]{60,}|\bATBB[0-9A-Za-z]{28,}|\bATTA[0-9a-f]{60,}"),
    Rule("sourcegraph_token", r"\bsgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}\b|\bsl[kd]_[0-9a-f]{64}\b"),
    Rule("npm_token", r"\bnpm_[0-9A-Za-z]{30,}|_authToken\s*=\s*[\"']?([0-9A-Za-z_=-]{20,})"),
    Rule("pypi_token", r"\bpypi-[0-9A-Za-z_-]{40,}"),
    Rule("crates_token", r"\bcio[0-9A-Za-z]{32}\b", Check.TOKEN),
    Rule("nuget_key", r"\boy2[a-z0-9]{43}\b"),
    Rule("rubygems_token", r"\brubygems_[0-9a-f]{40,}"),
    Rule("clojars_token", r"\bCLOJARS_[0-9a-f]{60}"),
    Rule("packagist_token", r"\bpackagist_[a-z]{3}_[0-9a-f]{40,}"),
    Rule("docker_token", r"\bdckr_(?:pat|oat)_[0-9A-Za-z_-]{20,}"),
    Rule("artifactory_token", r"\bAKCp[0-9A-Za-z]{60,}|\bcmVmdGtu[0-9A-Za-z]{56}"),
    Rule("jsr_token", r"\bjsr[pd]_[0-9A-Za-z]{36,}|\bdd[pow]_[0-9A-Za-z]{36}\b"),
    Rule("circleci_token", r"\bCCI(?:PAT|PRJ)_[0-9A-Za-z]{20,}_[0-9a-f]{40}"),
    Rule("buildkite_token", r"\bbk(?:ua|aj|ct|at|pt)_[0-9A-Za-z]{36,}"),
    Rule("sonar_token", r"\bsq[apu]_[0-9a-f]{40}\b"),
    Rule("snyk_token", r"\bsnyk_[a-z]{3}\.[0-9a-f]{6,}\.[0-9A-Za-z_.-]{30,}"),
    Rule("terraform_token", r"\b[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{50,}", gate=r"\.atlasv1\."),
    Rule("pulumi_token", r"\bpul-[0-9a-f]{40}\b"),
    Rule("doppler_token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z._-]{30,}"),
    Rule("vault_token", r"\bhv[sbr]\.[0-9A-Za-z_-]{20,}"),
    Rule("vault_token", r"\b[sbr]\.[0-9A-Za-z]{24}\b", Check.TOKEN),
    Rule("onepassword_key", r"\bops_ey[0-9A-Za-z+/=_-]{100,}|\bA3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}"),
    Rule("bitwarden_token", rf"\b0\.{_UUID}\.[0-9A-Za-z]{{30}}:[0-9A-Za-z+/]{{20,}}={{0,2}}"),
    Rule("infisical_token", r"\bst\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    Rule("harness_token", r"\b[ps]at\.[0-9A-Za-z_-]{22}\.[0-9a-f]{24}\.[0-9A-Za-z]{20}"),
    Rule("octopus_key", r"\bAPI-[0-9A-Z]{25,32}\b", Check.TOKEN),
    Rule("prefect_key", r"\bpn[bu]_[0-9A-Za-z]{36}\b"),
    Rule("dbt_token", r"\bdbt[cu]_[0-9A-Za-z_-]{30,}"),
    Rule("postman_key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}|\bPMAT-[0-9A-Z]{26}"),
    Rule("ovillo_key", r"\bovk_[a-z2-7]{12}_[a-z2-7]{50,}"),
    Rule("ovillo_token", r"\bovt_[a-z2-7]{52}"),
)  # fmt: skip

MODELS = (
    Rule("anthropic_key", r"\bsk-ant-[0-9A-Za-z_-]{20,}"),
    Rule("openrouter_key", r"\bsk-or-[0-9A-Za-z-]{20,}"),
    Rule("langfuse_key", rf"\bsk-lf-{_UUID}"),
    Rule("openai_key", r"\bsk-(?:proj|svcacct|admin|None|service|helicone|litellm)-[0-9A-Za-z_-]{20,}|\bsk-[0-9A-Za-z]{32,}|"
         r"\bsess-[0-9A-Za-z]{40}\b"),
    Rule("hugging_face_token", r"\bhf_[0-9A-Za-z]{30,}|\bapi_org_[0-9A-Za-z]{30,}"),
    Rule("groq_key", r"\bgsk_[0-9A-Za-z]{40,}"),
    Rule("xai_key", r"\bxai-[0-9A-Za-z]{40,}"),
    Rule("perplexity_key", r"\bpplx-[0-9A-Za-z]{40,}"),
    Rule("replicate_token", r"\br8_[0-9A-Za-z]{36,}"),
    Rule("nvidia_key", r"\bnvapi-[0-9A-Za-z_-]{50,}"),
    Rule("elevenlabs_key", r"\bsk_[0-9a-f]{48}\b"),
    Rule("langsmith_key", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|\bls__[0-9a-f]{32}"),
    Rule("pinecone_key", r"\bpc(?:sk|n)_[0-9A-Za-z]{4,8}_[0-9A-Za-z]{40,}"),
    Rule("cerebras_key", r"\bcsk-[0-9a-z]{40,}"),
    Rule("fireworks_key", r"\bfw_[0-9A-Za-z]{22,24}\b", Check.TOKEN),
    Rule("together_key", r"\btgp_v1_[0-9A-Za-z_-]{40,}"),
    Rule("voyage_key", r"\bpa-[0-9A-Za-z_-]{40,}", Check.TOKEN),
    Rule("jina_key", r"\bjina_[0-9a-f]{32}[0-9A-Za-z_-]{20,}"),
    Rule("tavily_key", r"\btvly-(?:dev-|prod-)?[0-9A-Za-z-]{20,}"),
    Rule("firecrawl_key", r"\bfc-[0-9a-f]{32}\b"),
    Rule("e2b_key", r"\be2b_[0-9a-f]{40}\b"),
    Rule("modal_token", r"\ba[ks]-[0-9A-Za-z]{22}\b", Check.TOKEN),
    Rule("runpod_key", r"\brp[as]_[0-9A-Za-z]{40,}"),
    Rule("llama_cloud_key", r"\bllx-[0-9A-Za-z]{40,}"),
    Rule("apify_token", r"\bapify_api_[0-9A-Za-z]{30,}"),
    Rule("wandb_key", r"\bwandb_v1_[0-9A-Za-z_]{40,}"),
    Rule("cursor_key", r"\bkey_[0-9a-f]{64}\b|\bcrsr_[0-9a-f]{40,}"),
    Rule("mem0_key", r"\bm0-[0-9A-Za-z]{40}\b"),
)  # fmt: skip

PAYMENTS_AND_SHOPS = (
    Rule("stripe_key", r"\b[srp]k_(?:live|test)_[0-9A-Za-z]{16,}|\bwhsec_[0-9A-Za-z+/]{24,}={0,2}|\bsk_org_[0-9A-Za-z]{20,}"),
    Rule("square_token", r"\bsq0(?:atp|csp|idp)-[0-9A-Za-z_-]{22,}|\bEAAA[0-9A-Za-z_-]{60}\b"),
    Rule("shopify_token", r"\bshp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}\b"),
    Rule("braintree_token", r"\baccess_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    Rule("plaid_token", rf"\baccess-(?:sandbox|development|production)-{_UUID}"),
    Rule("razorpay_key", r"\brzp_(?:live|test)_[0-9A-Za-z]{14,}"),
    Rule("flutterwave_key", r"\bFLW(?:SECK|PUBK)(?:_TEST)?-[0-9A-Za-z]{12,}(?:-X)?"),
    Rule("mercado_pago_token", r"\b(?:APP_USR|TEST)-[0-9]{10,}-[0-9]{6}-[0-9a-f]{32}-[0-9]+"),
    Rule("paddle_key", r"\bpdl_(?:live|sdbx)_apikey_[0-9a-z]{20,}_[0-9A-Za-z_]{20,}"),
    Rule("easypost_key", r"\bEZ[AT]K[0-9A-Za-z]{54}"),
    Rule("shippo_token", r"\bshippo_(?:live|test)_[0-9a-f]{40}"),
    Rule("live_key", r"\b(?:live|test)_[0-9A-Za-z]{30,45}\b", Check.TOKEN),
    Rule("wise_token", r"\bduffel_(?:live|test)_[0-9A-Za-z_-]{40,}|\bcal_live_[0-9a-f]{32}"),
)  # fmt: skip

MESSAGES = (
    Rule("slack_token", r"\bxox[abcdeoprs](?:\.xox[bp])?-[0-9A-Za-z%/+=-]{10,}|\bxapp-[0-9]-[0-9A-Za-z-]{20,}|\bxwfp-[0-9A-Za-z-]{20,}"),
    Rule("slack_webhook", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_-]{20,})"),
    Rule("discord_webhook", r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([0-9A-Za-z_-]{30,})"),
    Rule("discord_token", r"\b[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,40}|\bmfa\.[0-9A-Za-z_-]{80,}",
         gate=r"\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27}|mfa\.[0-9A-Za-z_-]{80}"),
    Rule("teams_webhook", r"(?i)\bwebhook\.office\.com/webhookb2/([0-9a-z@-]{40,}/IncomingWebhook/[0-9a-z]+/[0-9a-z-]+(?:/[0-9a-z_-]+)?)"),
    Rule("webhook", r"\b(?:hooks\.zapier\.com/hooks/catch|hook\.[a-z0-9]+\.make\.com|maker\.ifttt\.com/trigger/\w+/(?:json/)?with/key|"
         r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook|hooks\.airtable\.com|webhooks\.mongodb-realm\.com)/([0-9A-Za-z/_-]{12,})"),
    Rule("webhook", r"\b(?:oapi\.dingtalk\.com/robot/send\?access_token|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key)=([0-9a-z-]{20,})"),
    Rule("webhook", r"\bchat\.googleapis\.com/v1/spaces/[^\s\"']*[?&]token=([0-9A-Za-z_%-]{20,})"),
    Rule("telegram_token", r"(?:\b|bot)[0-9]{8,10}:[0-9A-Za-z_-]{34,36}\b", gate=r"[0-9]{8}:[0-9A-Za-z_-]{34}"),
    Rule("twilio_key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    Rule("twilio_key", r"(?:\bAC[0-9a-f]{32}|\[redacted:twilio_key:[0-9a-f]{6}\])[\"'`]?[\s,:;|/]+[\"'`]?([0-9a-f]{32})\b"),
    Rule("twilio_key", r"(?i)\btwilio(?:\.rest)?(?:\.Client)?\(\s*[^,()]+,\s*[\"']([0-9a-f]{32})[\"']|\bClient\(\s*[^,()]*sid[^,()]*,\s*[\"']([0-9a-f]{32})[\"']"),
    Rule("telnyx_key", r"\bKEY[0-9A-F]{32}_[0-9A-Za-z]{22}"),
    Rule("sendgrid_key", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    Rule("mailgun_key", r"\bkey-[0-9a-f]{32}\b|\b[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b", gate=r"key-[0-9a-f]{32}|-[0-9a-f]{8}-[0-9a-f]{8}\b"),
    Rule("mailchimp_key", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b", gate=r"[0-9a-f]-us[0-9]{1,2}\b"),
    Rule("brevo_key", r"\bx(?:keysib|smtpsib)-[0-9a-f]{64}-[0-9A-Za-z]{16}"),
    Rule("resend_key", r"\bre_[0-9A-Za-z]{6,10}_[0-9A-Za-z]{20,}", Check.TOKEN),
    Rule("matrix_token", r"\bsyt_[0-9A-Za-z+/=]+_[0-9A-Za-z]{20}_[0-9A-Za-z]{6}"),
    Rule("facebook_token", r"\bEAA[0-9A-Za-z]{80,}|\bIG(?:QV|AA)[0-9A-Za-z_-]{100,}"),
    Rule("twitter_token", r"\bA{20,30}[0-9A-Za-z]+%[0-9A-Za-z%]{30,}"),
    Rule("twitch_token", r"\boauth:[0-9a-z]{30}\b"),
    Rule("linkedin_secret", r"\bWPL_AP1\.[0-9A-Za-z.=]{16,}"),
    Rule("hubspot_token", rf"\bpat-(?:na|eu|ap)[0-9]-{_UUID}"),
    Rule("salesforce_token", r"\b00D[0-9A-Za-z]{12,15}![0-9A-Za-z._]{60,}"),
    Rule("intercom_token", r"\bdG9r[0-9A-Za-z+/_-]{40,}={0,2}"),
)  # fmt: skip

TOOLS = (
    Rule("linear_key", r"\blin_(?:api|oauth)_[0-9A-Za-z]{30,}"),
    Rule("notion_token", r"\bntn_[0-9A-Za-z]{40,}|\bsecret_[0-9A-Za-z]{43}\b"),
    Rule("figma_token", r"\bfig[dour]_[0-9A-Za-z_-]{36,}"),
    Rule("airtable_token", r"\bpat[0-9A-Za-z]{14}\.[0-9a-f]{64}"),
    Rule("asana_token", r"\b[12]/[0-9]{12,}(?:/[0-9]{12,})?:[0-9a-f]{32}"),
    Rule("clickup_token", r"\bpk_[0-9]{6,}_[0-9A-Z]{32}"),
    Rule("contentful_token", r"\bCFPAT-[0-9A-Za-z_-]{40,}"),
    Rule("ghost_key", r"\b[0-9a-f]{24}:[0-9a-f]{64}\b", gate=":[0-9a-f]{64}"),
    Rule("typeform_token", r"\btfp_[0-9A-Za-z_.=-]{40,}"),
    Rule("dropbox_token", r"\bsl\.(?:[uB]\.)?[0-9A-Za-z_-]{100,}"),
    Rule("mapbox_token", r"\bsk\.eyJ[0-9A-Za-z_-]{30,}\.[0-9A-Za-z_-]{16,}"),
    Rule("readme_key", r"\brdme_[0-9a-z]{60,}"),
    Rule("rapidapi_key", r"\b[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}\b", gate="msh[0-9a-f]{15}p1"),
    Rule("adafruit_key", r"\baio_[0-9A-Za-z]{28}\b"),
    Rule("inngest_key", r"\bsignkey-[a-z]+-[0-9a-f]{64}"),
    Rule("grafana_token", r"\bglsa_[0-9A-Za-z]{32}_[0-9a-f]{8}|\bglc_[0-9A-Za-z+/=]{32,}"),
    Rule("new_relic_key", r"\bNRAK-[0-9A-Z]{27}|\bNRI[IQ]-[0-9A-Za-z_-]{32}|\bNRRA-[0-9a-f]{42}"),
    Rule("new_relic_key", r"\b[0-9a-f]{36,38}NRAL\b", gate="NRAL"),
    Rule("dynatrace_token", r"\bdt0[a-z][0-9]{2}\.[0-9A-Z]{24}\.[0-9A-Z]{64}"),
    Rule("honeycomb_key", r"\bhc[abxi][im][ks]_[0-9A-Za-z]{40,}"),
    Rule("sentry_token", r"\bsntry[su]_[0-9A-Za-z_=+/-]{40,}"),
    Rule("posthog_key", r"\bph[xs]_[0-9A-Za-z]{40,}"),
    Rule("launchdarkly_key", rf"\b(?:sdk|api)-{_UUID}"),
    Rule("axiom_token", rf"\bxa[ap]t-{_UUID}"),
    Rule("supabase_key", r"\bsbp_(?:v0_)?[0-9a-f]{40}|\bsb_secret_[0-9A-Za-z_-]{20,}"),
    Rule("planetscale_token", r"\bpscale_(?:tkn|oauth|pw)_[0-9A-Za-z_.-]{30,}"),
    Rule("databricks_token", r"\bdapi[0-9a-f]{32}(?:-[0-9])?\b|\bdose[0-9a-f]{32}\b"),
    Rule("aiven_password", r"\bAVNS_[0-9A-Za-z_-]{16,}"),
    Rule("neon_password", r"\bnpg_[0-9A-Za-z]{10,}\b|\bnapi_[0-9a-z]{40,}", Check.TOKEN),
    Rule("mongodb_key", r"\bmdb_sa_sk_[0-9A-Za-z_-]{40}"),
    Rule("confluent_key", r"\bcflt[0-9A-Za-z+/]{60}\b"),
    Rule("fauna_key", r"\bfnA[0-9A-Za-z_-]{37}\b"),
    Rule("xata_key", r"\bxau_[0-9A-Za-z]{30,}"),
    Rule("okta_token", r"(?i)\bSSWS[ \t]+(00[0-9A-Za-z_-]{38,42})"),
    Rule("ory_token", r"\bory_(?:pat|at|rt|st|ac)_[0-9A-Za-z_.-]{30,}"),
    Rule("laravel_key", r"\bbase64:[0-9A-Za-z+/]{42,}={0,2}"),
    Rule("django_key", r"\bdjango-insecure-[0-9a-z!@#$%^&*(_=+)-]{30,}"),
    Rule("prefixed_key", r"\b[a-z][a-z0-9]{1,15}_(?:live|test|prod|dev|sandbox|sk|pat|api|apikey|key|token|secret|oat|at|rt)_[0-9A-Za-z]{20,}\b",
         Check.TOKEN, "_(?:live|test|prod|dev|sandbox|sk|pat|api|apikey|key|token|secret|oat|at|rt)_[0-9A-Za-z]{20}"),
    Rule("session_cookie", r"(?i)\b(?:sessionid|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|laravel_session|_session_id|"
         r"remember_token|csrftoken|xsrf-token)=([0-9a-z%._~+/-]{16,})"),
    Rule("kubernetes_token", r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", Check.TOKEN, r"[a-z0-9]\.[a-z0-9]{16}\b"),
    Rule("totp_secret", r"\b(?:TOTP\([ \t]*[\"']|oathtool\b[^\n|;]*[ \t](?:-b[ \t]+)?)([A-Z2-7]{16,})\b"),
    Rule("totp_secret", r"(?i)\botpauth://[^\s\"'<>]*[?&;]secret=([0-9A-Z]{10,})"),
)  # fmt: skip


def _behind_escapes(rule: Rule) -> Rule:
    """A token may stand directly behind an escaped line break (``\\nnpm_…``), which is no boundary of a word."""
    return replace(rule, pattern=re.sub(r"(^|\|)\\b", r"\1(?:\\b|\\\\[nrt])", rule.pattern))


_ALL = CLOUD + CODE_AND_PACKAGES + MODELS + PAYMENTS_AND_SHOPS + MESSAGES + TOOLS

SERVICES = tuple(map(_behind_escapes, _ALL))
