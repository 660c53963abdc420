"""Secrets known by their own shape: keys with a vendor's prefix, and JSON web tokens.

Every one of them holds an unbroken run of at least 20 letters, digits, ``_`` and ``-``. Such runs are rare and found
at memory speed, so prefixes are only looked for in and just before them, and the number of rules costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.redact.spans import Span

_LEAST_RUN = 20
_BEFORE_RUN = 8  # the longest prefix that ends in a character which no run holds: "Bearer "
_LEAST_DISTINCT = 8  # fewer different characters are a stand-in such as sk-xxxx…

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SHAPE = bytes(ord("x") if code in _WORD else ord(" ") for code in range(256))
_RUN = b"x" * _LEAST_RUN
_NAME = re.compile(r"[a-z_-]*+")  # a name in lower case, as most runs are

_DIGIT = r"(?=[A-Za-z_-]{0,64}\d)"

_OTHERS = (
    *("gsk_", "xai-", "pplx-", "r8_", "nvapi-", "tvly-", "lin_api_", "ntn_", "dckr_pat_", "glsa_", "sntrys_"),
    *("lsv2_pt_", "tskey-", "NRAK-", "figd_", "sbp_", "AGE-SECRET-KEY-1", "ATATT3", "PMAK-", "pscale_tkn_"),
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
    ("twilio_key", ("SK",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("telegram_token", ("AA",), r"(?<=\d{8}:AA)[\w-]{30,}"),
    ("databricks_token", ("dapi",), r"[0-9a-f]{32}"),
    ("mailgun_key", ("key-",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("digitalocean_token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{40,}"),
    ("vault_token", ("hvs.", "hvb."), _DIGIT + r"[\w-]{20,}"),
    ("shopify_token", ("shpat_", "shpss_", "shpca_", "shppa_"), r"[0-9a-fA-F]{20,}"),
    ("api_key", _OTHERS, _DIGIT + r"(?=[\w-]{0,32}?[A-Za-z0-9]{10})[\w-]{16,}"),
    ("jwt", ("eyJ",), r"[\w-]{10,512}\.[\w-]{10,}(?:\.[\w-]+){0,3}"),
    ("authorization", ("Bearer ", "bearer ", "BEARER "), r"(?!eyJ)((?=[A-Za-z_./+~-]{0,64}\d)[\w.~+/-]{20,}={0,2})"),
)
_BY_PREFIX = {
    prefix: (kind, re.compile(re.escape(prefix) + after, re.ASCII))
    for kind, prefixes, after in _RULES
    for prefix in prefixes
}
_ANY_PREFIX = f"({'|'.join(re.escape(prefix) for prefix in sorted(_BY_PREFIX, key=len, reverse=True))})"
_AT_START = re.compile(_ANY_PREFIX)
# No letter or digit may stand before a key, unless it ends an escape: \n in JSON, %3D in a URL.
_INSIDE = re.compile(r"[^A-Za-z0-9](?:(?<=\\)(?:[nrtbf]|u[0-9A-Fa-f]{4})|(?<=%)[0-9A-F]{2})?" + _ANY_PREFIX)


def vendor_spans(text: str, folded: bytes) -> Iterator[Span]:
    """The vendor keys in a text.

    ``folded`` holds one ASCII byte for each character of the text, in whatever case.
    """
    shape = folded.translate(_SHAPE)
    start = shape.find(_RUN)
    done = 0
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(shape) if end < 0 else end
        at = end if _NAME.fullmatch(text, start, end) else max(done, start - _BEFORE_RUN)
        while prefix := (_AT_START.match(text) if at == 0 else None) or _INSIDE.search(text, at, end):
            kind, pattern = _BY_PREFIX[prefix[1]]
            found = pattern.match(text, prefix.start(1))
            if found is None:
                at = prefix.start(1) + 1
                continue
            at = done = found.end()
            group = found.lastindex or 0
            if len(set(found[group])) >= _LEAST_DISTINCT:
                yield Span(*found.span(group), kind)
        start = shape.find(_RUN, end)
