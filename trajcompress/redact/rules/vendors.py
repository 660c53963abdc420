"""Secrets known by their own shape: keys with a vendor's prefix, and JSON web tokens.

Every one of them holds an unbroken run of at least 20 letters, digits, ``_`` and ``-``, which is not a name in lower
case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import Span

_LEAST_RUN = 20
_LEAST_DISTINCT = 8  # fewer different characters are a stand-in such as sk-xxxx…

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SHAPE = bytes(ord("x") if code in _WORD else ord(" ") for code in range(256))
_RUN = b"x" * _LEAST_RUN
_NAME = late_re(r"[a-z_-]*+")  # in lower case

_DIGIT = r"(?=[A-Za-z_-]{0,64}\d)"

_OTHERS = (
    *("gsk_", "xai-", "pplx-", "r8_", "nvapi-", "tvly-", "lin_api_", "ntn_", "dckr_pat_", "glsa_", "sntrys_"),
    *(
        "lsv2_pt_",
        "tskey-",
        "NRAK-",
        "figd_",
        "sbp_",
        "AGE-SECRET-KEY-1",
        "ATATT3",
        "PMAK-",
        "pscale_tkn_",
        "pscale_pw_",
        "pscale_oauth_",
    ),
    *("sb_secret_", "apify_api_", "jina_", "fw_", "tgp_v1_", "csk-", "ak_live_", "sk_prod_", "key_live_"),
)
# Kind, prefixes, and what follows a prefix; a group narrows the secret down. Repetitions are unbounded only where
# they cannot fail afterwards: that keeps hostile text linear.
_RULES = (
    ("anthropic_key", ("sk-ant-",), r"[\w-]{16,}"),
    ("openai_key", ("sk-",), _DIGIT + r"(?=[\w-]{0,32}?[A-Za-z0-9]{16})[\w-]{18,}"),
    ("stripe_key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), r"[A-Za-z0-9]{12,}"),
    ("aws_key", ("AKIA", "ASIA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{30,}"),
    ("github_token", ("github_pat_",), r"\w{20,}"),
    ("gitlab_token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"), r"[\w-]{16,}"),
    ("slack_token", tuple(f"xox{letter}-" for letter in "abcdeoprs"), _DIGIT + r"[\w-]{14,}"),
    ("slack_token", ("xapp-",), r"\d-[\w-]{14,}"),
    ("google_key", ("AIza",), r"[\w-]{30,}"),
    ("google_key", ("GOCSPX-",), r"[\w-]{20,}"),
    ("google_key", ("ya29.",), r"[\w-]{20,}"),
    ("huggingface_token", ("hf_", "api_org_"), r"[A-Za-z0-9]{30,}"),
    ("npm_token", ("npm_",), r"[A-Za-z0-9]{30,}"),
    ("pypi_token", ("pypi-",), r"Ag[\w-]{30,}"),
    ("sendgrid_key", ("SG.",), r"[\w-]{16,64}\.[\w-]{16,}"),
    ("twilio_key", tuple(f"SK{digit}" for digit in "0123456789abcdef"), r"[0-9a-f]{31}(?![A-Za-z0-9])"),
    ("telegram_token", ("AA",), r"(?<=\d{8}:AA)[\w-]{30,}"),
    ("databricks_token", ("dapi",), r"[0-9a-f]{32}"),
    ("mailgun_key", ("key-",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("digitalocean_token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{40,}"),
    ("vault_token", ("hvs.", "hvb."), _DIGIT + r"[\w-]{20,}"),
    ("shopify_token", ("shpat_", "shpss_", "shpca_", "shppa_"), r"[0-9a-fA-F]{20,}"),
    ("api_key", _OTHERS, _DIGIT + r"(?=[\w-]{0,32}?[A-Za-z0-9]{10})[\w-]{16,}"),
    ("api_key", ("xkeysib-", "xsmtpsib-"), r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("api_key", ("dt0c01.", "dt0s01.", "dt0s16."), r"[A-Z0-9]{20,28}\.[A-Z0-9]{60,}"),
    ("api_key", ("EZAK", "EZTK"), r"[A-Za-z0-9]{54,58}(?![A-Za-z0-9])"),
    ("api_key", ("AKCp",), r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9])"),
    ("api_key", ("sl.B", "sl.u.", "sl.A"), r"[\w-]{60,}"),
    (
        "api_key",
        (
            "dp.st.",
            "dp.st.prd.",
            "dp.st.dev.",
            "dp.st.stg.",
            "dp.st.prod.",
            "dp.pt.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
        ),
        r"(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    ("api_key", ("pat-na1-", "pat-eu1-"), r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("api_key", ("sdk-", "mob-"), r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    (
        "api_key",
        (
            "fm1_",
            "fm2_",
        ),
        r"[A-Za-z0-9+/=_-]{20,}(?:,fm2_[A-Za-z0-9+/=_-]{20,})*",
    ),
    (
        "api_key",
        ("pnu_", "tfp_", "rubygems_", "phc_", "phx_", "rdme_", "shippo_live_", "shippo_test_"),
        r"[A-Za-z0-9_]{28,}",
    ),
    ("api_key", ("FLWSECK-", "FLWSECK_TEST-", "FLWPUBK_TEST-"), r"[0-9a-f]{32}-X|[0-9a-zA-Z-]{20,}"),
    ("api_key", ("sq0csp-", "sq0atp-", "sq0idp-"), r"[\w-]{22,50}"),
    ("api_key", ("tfe.",), r"[\w-]{20,}"),
    (
        "api_key",
        ("glc_", "glsa_", "dapi-", "doppler-", "nfp_", "pul-", "hvb.", "CFPAT-", "lip_", "sgp_"),
        _DIGIT + r"[\w=+/-]{20,}",
    ),
    (
        "private_key",
        ("LS0tLS1CRUdJTi",),
        r"(?=[A-Za-z0-9+/]{0,60}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW))[A-Za-z0-9+/=]{40,}",
    ),
    ("jwt", ("eyJ",), r"[\w-]{10,512}\.[\w-]{10,}(?:\.[\w-]+){0,3}"),
    ("authorization", ("SSWS ", "FlyV1 "), r"([\w+/=,.-]{20,})"),
    ("authorization", ("Bearer ", "bearer ", "BEARER "), r"(?!eyJ)((?=[A-Za-z_./+~-]{0,64}\d)[\w.~+/-]{20,}={0,2})"),
)
_BY_PREFIX = {prefix: (kind, after) for kind, prefixes, after in _RULES for prefix in prefixes}
# A prefix, looked for without regard to case; the colon comes along as two letters alone fill padded base64.
NEEDLES = sorted({(":aa" if prefix == "AA" else prefix.lower()).encode() for prefix in _BY_PREFIX})
# No letter or digit may stand before a key, unless it ends an escape: \n in JSON, %3D or a colour code in a URL.
_APART = late_re(
    r"(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=%[35][Bb]\dm)|(?<=%[35][Bb]\d\dm)"
)
_PREFIX = late_re(f":?({'|'.join(re.escape(prefix) for prefix in sorted(_BY_PREFIX, key=len, reverse=True))})")
# But for these, if what follows is no word: nothing else ends so, and whoever prints a label may forget the blank.
_STARTS = (
    r"sk-(?:ant-|proj-|svcacct-|or-v1-)|[sr]k_live_|gh[opusr]_|github_pat_|gl(?:pat|dt|rt|ptt|cbt)-|xox[abdeoprs]-|xapp-"
    r"|GOCSPX-|ya29\.|hf_|npm_|pypi-|do[opr]_v1_|shp(?:at|ss|ca|pa)_|eyJ|gsk_|nvapi-|tvly-|glsa_|dckr_pat_"
)
_UNMISTAKABLE = late_re(_STARTS)
BEGINS_A_KEY = rf"{_STARTS}|A[KS]IA|AIza"
"""A pattern of what begins keys alone."""
_IN_BASE64 = late_re(r"A[KS]IA|AIza")
_LABEL = late_re(r"(?<![A-Za-z0-9+/])(?:[A-Za-z]{1,24}\d{0,3}|\d{1,3})\Z")
_PLAIN_LABEL = late_re(r"(?<![A-Za-z0-9+/])(?:[a-z]{1,24}|[A-Z]{1,24}|[A-Z][a-z]{1,24})\Z")
# The rest of a key on a line of its own: no word, no number, no digest.
_REST = late_re(
    r"(?:\r?\n|\\r\\n|\\n)(?=\S{0,60}?\d)(?=\S{0,60}?[A-Z])(?=\S{0,60}?[a-z])[\w.-]{5,400}(?=\s|\\+[nr]|[\"']|\Z)"
)
_NARROWEST, _WIDEST = 60, 400  # columns of a terminal
_MOST_LINES = 20
_MIXED = late_re(r"(?=.*\d).*", re.DOTALL)


def vendor_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The vendor keys in a text; ``places`` are where ``NEEDLES`` start and end."""
    shape = b""
    done, run_end, named = -1, 0, False
    for place in sorted({start for start, _ in places}):
        prefix = _PREFIX.match(text, place)
        if prefix is None or prefix.start(1) <= done:
            continue
        apart = _APART.match(text, prefix.start(1)) is not None
        if not (apart or _follows_a_label(text, prefix.start(1))):
            continue
        if prefix.end() > run_end:  # the run that this prefix is in, or that follows it
            shape = shape or text.encode("ascii", "replace").translate(_SHAPE) + b" "
            run = shape.find(_RUN, shape.rfind(b" ", run_end, prefix.end()) + 1, prefix.end() + 1 + _LEAST_RUN)
            if run < 0:
                continue
            run_end = shape.find(b" ", run)
            named = _NAME.fullmatch(text, run, run_end) is not None
        kind, _ = _BY_PREFIX[prefix[1]]
        found = None if named else _pattern_of(prefix[1]).match(text, prefix.start(1))
        if found is None or not (apart or _MIXED.fullmatch(found[0])):
            continue
        done = found.end()
        if found[0].endswith("EXAMPLE"):  # in the documents of a vendor
            continue
        group = found.lastindex or 0
        if len(set(found[group])) >= _LEAST_DISTINCT:
            begin, end = found.span(group)
            done = end if end < done else _wrapped_end(text, end)
            yield Span(begin, max(end, done), kind)


def _wrapped_end(text: str, end: int) -> int:
    """Where a key ends that a terminal broke at its width, and that goes on alone in the next lines."""
    line = max(text.rfind(line_end, max(0, end - _WIDEST), end) for line_end in ("\n", "\\n"))
    if end - line < _NARROWEST:
        return end
    for _ in range(_MOST_LINES):
        rest = _REST.match(text, end)
        if rest is None:
            break
        end = rest.end()
    return end


def kind_of_key(text: str) -> str | None:
    """What kind of key a whole text is, None where it is none."""
    prefix = _PREFIX.match(text)
    found = _pattern_of(prefix[1]).fullmatch(text) if prefix else None
    return _BY_PREFIX[prefix[1]][0] if prefix and found and len(set(text)) >= _LEAST_DISTINCT else None


@cache
def _pattern_of(prefix: str) -> re.Pattern[str]:
    """The pattern of a key; a text has few kinds of them, and making the patterns of all takes long."""
    return re.compile(re.escape(prefix) + _BY_PREFIX[prefix][1], re.ASCII)


def _follows_a_label(text: str, at: int) -> bool:
    label = _PLAIN_LABEL if _IN_BASE64.match(text, at) else _UNMISTAKABLE.match(text, at) and _LABEL
    return label is not None and label.search(text, max(0, at - 28), at) is not None
