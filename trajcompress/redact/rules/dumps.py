"""Secrets as programs and protocols print them behind a name, each in a way of its own."""

from __future__ import annotations

_BREAK = r"(?:\r?\n|\\+r\\+n|\\+n)"  # also in JSON
_Q = r"\\*[\"']"
_GAP = r"(?:\s|\\+[nrt])*"
_WORD = r"([^\s\"'`\\]{3,128})"
_ENDS = rf"{_BREAK}|[\"'`\s]|\\+\"|\Z"
_END = rf"(?={_ENDS})"
_NAME = r"[\w-]*(?:password|passwd|token|secret|api_?key)"
_OF_CONNECTION = r"(?:user(?: id)?|uid|server|data source|host|database|initial catalog)=[^;\"'\n\\]{1,128};\s?"
_OPTION = rf"(?!password ?=)[\w.-]{{1,40}} ?= ?[^\n\\]{{0,80}}{_BREAK}"
_PHRASE = r"(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})"

DUMPED = {
    # connection strings
    (";password=", ";pwd=", "; password=", "; pwd="): (
        rf"(?i:{_OF_CONNECTION}(?:[^;=\"'\n]{{1,40}}=[^;\"'\n]{{0,128}};\s?){{0,6}}(?:password|pwd)=)"
        rf"([^\s;\"'`\\]{{3,128}})(?=;|{_ENDS})"
    ),
    # option files
    ("\npassword=", "\npassword =", "\\npassword=", "\\npassword ="): (
        rf"(?:\A|{_BREAK}|\")user(?:name)? ?= ?[\w.@-]{{1,64}}{_BREAK}(?:{_OPTION}){{0,3}}?"
        r"password ?= ?([^\s\"'`\\()\[\]{},;]{3,128})(?=\r?\n|\\+[nr]|\\*[\"']|\s*\Z)"
    ),
    # rclone
    ("\npass = ", "\\npass = "): rf"{_BREAK}pass = ([\w+/=-]{{16,256}}){_END}",
    # redis-cli
    ('requirepass"', 'requirepass\\"', 'masterauth"', 'masterauth\\"'): (
        rf"(?:requirepass|masterauth){_Q}{_BREAK}\d{{1,3}}\) {_Q}([^\s\"\\]{{3,128}}){_Q}"
    ),
    # DynamoDB
    ('"s": "', '"s":"', '\\"s\\": \\"', '\\"s\\":\\"'): (
        rf"{_Q}(?i:{_NAME}){_Q}: ?\{{{_GAP}{_Q}S{_Q}: ?{_Q}([^\s\"\\]{{3,256}}){_Q}"
    ),
    # PHP
    ('"]=>', '\\"]=>'): rf"\[{_Q}(?i:{_NAME}){_Q}\]=>{_GAP}string\(\d{{1,4}}\) {_Q}([^\s\"\\]{{3,256}}){_Q}",
    # forms in parts, RFC 7578
    ('password"\r\n', 'password\\"\\r\\n', 'password"\\r\\n'): (
        rf"name={_Q}(?i:{_NAME}){_Q}{_BREAK}{{2}}{_WORD}{_BREAK}"
    ),
    # FTP, RFC 959
    ("\npass ", "\\npass "): (
        rf"331 [^\n\\]{{0,80}}{_BREAK}(?:[^\n\\]{{0,20}} )?PASS {_WORD}"
        rf"|USER [^\s\\]{{1,64}}{_BREAK}PASS (?P<password>[^\s\"'`\\]{{3,128}}){_BREAK}230 "
    ),
    # SMTP, IMAP: SASL PLAIN, RFC 4616
    ("auth plain ", "authenticate plain "): r"(?i:AUTH(?:ENTICATE)? PLAIN) ([A-Za-z0-9+/]{8,256}={0,2})(?![\w+/=])",
    # LDIF, RFC 2849
    ("password:: ",): r"(?i:password):: ([\w+/]{8,512}={0,2})",
    # network devices
    ("snmp-server community ",): rf"snmp-server community (?!public|private){_WORD}",
    # Azure
    ("keyname",): rf"{_Q}keyName{_Q}: ?{_Q}\w{{1,40}}{_Q},{_GAP}(?:{_Q}permissions{_Q}: ?{_Q}\w{{1,20}}{_Q},{_GAP})?"
    rf"{_Q}value{_Q}: ?{_Q}([\w+/]{{40,128}}={{0,2}}){_Q}",
    # Elasticsearch
    ("new value: ",): rf"[Pp]assword for [^\n\\]{{1,80}}{_BREAK}New value: (?=\S{{0,64}}\d){_WORD}",
    # wallets
    ("private key: ", "private key (", "private key is "): (
        r"(?i:private key)[^\n:\\]{0,20}(?::| is) ?[\"'`]?"
        r"((?:0x)?[0-9a-fA-F]{64}|(?=[A-Za-z]{0,60}\d)[1-9A-HJ-NP-Za-km-z]{51,88})(?![\w])"
    ),
    ("mnemonic", "seed phrase", "recovery phrase", "secret phrase"): (
        rf"(?i:mnemonic|(?:seed|recovery|secret) phrase)[^\n\\]{{0,30}}?(?:[:=]|is)(?:\s|\\+n){{0,3}}[\"'`]?{_PHRASE}"
    ),
    ("creds are ", "credentials are ", "creds = "): (
        r"(?i:(?:creds|credentials) (?:are|=)):? [\w.@-]{2,40} ?[/:|] ?([^\s\"'`\\,;]{6,64})"
    ),
}
"""By what a text is searched for: a pattern around it, whose group is the secret."""
