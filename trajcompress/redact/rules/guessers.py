"""What programs print that guess passwords, or read them from memory: each line names the account, too."""

from __future__ import annotations

_WORD = r"([^\s\"'`\\]{3,128})"
_FOUND = (
    r"(?i:(?:password|passphrase) (?:found|cracked)|(?:found|cracked) (?:the |a )?(?:password|passphrase))!*(?: is)?"
    r"(?:\s?[:=](?: pw ==)?\s+\\*[\"'`]?|\s+\\*[\"'`])([^\s\"'`\\]{4,64})"
    r"(?:\\*['\"] for |\\*[\"'`]?[.!]?\s*(?:[\n\"'`]|\\+n|\Z))"
)
GUESSED = {
    # hydra, medusa
    ("] host: ",): r"(?i:\[[\w-]{1,24}\] host: \S{1,80}\s+(?:misc: \S{1,80}\s+)?(?:login|user): [^\n\\]{1,64}?\s+"
    rf"password: ){_WORD}",
    # crackmapexec, netexec
    (
        " [+] ",
    ): r"(?<![A-Z])(?:SMB|SSH|WINRM|LDAP|MSSQL|FTP|RDP|WMI|VNC|NFS)\s+\S{1,80}\s+\d{1,5}\s+\S{1,80}\s+\[\+\] "
    rf"[\w.$@\\-]{{1,128}}:{_WORD}",
    # metasploit
    ("success: '", "successful: '"): r"(?i:success(?:ful)?): '[^':\n]{0,64}:([^'\n\\]{3,128})'",
    # ncrack
    tuple(f"/tcp {name}: '" for name in ("ssh", "ftp", "rdp", "telnet")): (
        r"/tcp \w{1,16}: '[^'\n]{1,64}' '([^'\n]{3,64})'"
    ),
    # wpscan
    ("| username: ",): rf"(?i:\| username: [^,\n]{{1,64}}, password: ){_WORD}",
    # aircrack-ng
    ("key found! [",): r"KEY FOUND! \[ ([^\s\[\]]{8,64}) \]",
    # fcrackzip, stegseek, sqlmap
    ("password found", "found password", "found passphrase", "password cracked", "cracked password"): _FOUND,
    # responder
    ("-ssp hash",): r"NTLMv[12]-SSP Hash\s*: (?P<secret>[^\s\"'`\\]{20,})",
    # mimikatz
    ("* ntlm ", "* sha1 "): r"\* (?:NTLM|SHA1) +: ([0-9a-f]{32,40})",
}
"""By what a text is searched for: a pattern around it, whose group is the password."""
