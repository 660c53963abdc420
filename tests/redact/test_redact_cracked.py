"""What programs that guess or crack passwords print of them."""

from __future__ import annotations

import json
import re

import pytest

from trajcompress.redact import redact, redact_turns

MD5, NTLM = "0d107d09f5bbe40cade3de5c71e9e9b7", "8846f7eaee8fb117ad06bdd830b7586c"
# With the secrets in braces.
PRINTED = [
    "admin:⟨letmein⟩:1001:1001::/home/admin:/bin/sh\nroot:⟨toor⟩:0:0::/:/bin/sh\n\n2 password hashes cracked, 0 left",
    "?:⟨letmein⟩\n\n1 password hash cracked, 3 left\n",
    (
        "Loaded 2 password hashes with 2 different salts (sha512crypt, crypt(3) $6$ [SHA512 256/256 AVX2 4x])\n"
        "Cost 1 (iteration count) is 5000\n⟨letmein⟩          (bob)     \n⟨Dragon99⟩         (alice)\n"
        "2g 0:00:00:03 DONE (2024-05-01 10:00) 0.6134g/s 1256p/s 2512c/s 2512C/s 123456..minerva\nSession completed."
    ),
    "[22][ssh] host: 10.0.0.1   login: root   password: ⟨toor⟩\n1 of 1 target completed",
    "ACCOUNT FOUND: [ssh] Host: 10.0.0.1 User: root Password: ⟨toor⟩ [SUCCESS]",
    "SMB         10.0.0.5   445    DC01             [+] CORP\\jsmith:⟨Welcome1⟩ (Pwn3d!)",
    "SMB  10.0.0.5  445  DC01  [*] Windows 10\nSSH  10.0.0.5  22  10.0.0.5  [+] root:⟨toor⟩ Linux - Shell access!",
    "[+] 10.0.0.5:22 - Success: 'msfadmin:⟨msfadmin⟩' 'uid=1000(msfadmin)'",
    "10.0.0.1 22/tcp ssh: 'root' '⟨toor⟩'",
    "[!] Valid Combinations Found:\n | Username: admin, Password: ⟨letmein⟩\n",
    "  KEY FOUND! [ ⟨biscotte⟩ ]\n",
    "PASSWORD FOUND!!!!: pw == ⟨magicword⟩\n",
    '[i] Found passphrase: "⟨letmein⟩"\n',
    "[INFO] cracked password '⟨letmein⟩' for user 'bob'",
    f" * Username : bob\n * NTLM     : ⟨{NTLM}⟩\n * Password : (null)\n",
    f"[SMB] NTLMv2-SSP Hash     : ⟨bob::CORP:1122334455667788:{MD5}:010100000000000080E2⟩\n",
    f"⟨$krb5asrep$23$bob@CORP.LOCAL:{MD5}${MD5}{MD5}⟩",
    f"$ hashcat -m 0 --show h.txt\n{MD5}:⟨letmein⟩\nbob:{NTLM}:⟨P@ss w0rd⟩\n",
]


@pytest.mark.parametrize("marked", PRINTED)
def test_a_guessed_password_becomes_a_mark(marked):
    printed, clean = re.sub("[⟨⟩]", "", marked), re.sub("⟨.*?⟩", "[REDACTED]", marked)
    for text in (printed, json.dumps({"output": printed})):
        found = re.sub(r"\[REDACTED:\w+\]", "[REDACTED]", redact(text).text)
        assert (json.loads(found)["output"] if text is not printed else found) == clean
        assert redact(redact(text).text).count == 0


@pytest.mark.parametrize("hashed", [MD5, f"{MD5}:salt", f"bob:{NTLM}", "$6$abcdefgh$" + "xY9z" * 20])
def test_the_answer_to_a_cracker_holds_passwords(hashed):
    turns = [["hashcat -m 0 --show hashes.txt"], [json.dumps({"output": f"{hashed}:letmein\n", "code": 0})]]
    redacted, _ = redact_turns(turns)
    assert "letmein" not in redacted[1].text
    assert "hashcat" not in redact(f"{MD5}:letmein").text
    assert redact_turns([["sha1sum hashes.txt"], turns[1]])[0].get(1) is None or "$6$" in hashed


@pytest.mark.parametrize(
    "text",
    [
        "[+] Found password field at line 12\nPassword found in config.py\npassword cracked successfully\n",
        "Found password: none\nfound passphrase prompt\n[+] Found 3 passwords\n",
        "SMB  10.0.0.5  445  DC01  [*] Windows (name:DC01)\nSMB  10.0.0.5  445  DC01  [+] Enumerated shares",
        "Loaded 1 password hash (Raw-MD5 [MD5 256/256 AVX2 8x3])\nNo password hashes left to crack (see FAQ)\n",
        "http://example.org:80\n\nUsing default encoding: UTF-8\n0 password hashes cracked, 1 left",
        f"Session..........: hashcat\nHash.Target......: {MD5}\nRecovered........: 0/1 (0.00%) Digests (total)\n",
        "[DATA] attacking ssh://10.0.0.1:22/\n* Connected to [x] Host: example.org",
        '["https://h/?a=", "1 password hash cracked, 0 left"]',
        " * Password : (null)\n * NTLM     : (null)\n",
    ],
)
def test_what_they_print_besides_stays(text):
    assert redact(text).text == text


@pytest.mark.cpu_seconds(15)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "unit",
    [
        *(" password hash", "a:b\n1 password hashes cracked, 0 left\n", "Loaded 1 password hash\n", "hashcat -\n"),
        *(f"hashcat {MD5}:", "hashcat\n" + "$" * 900 + ":\n", 'hashcat "$', " [+] ", "SMB a 1 a [+] ", "] host: "),
        *("[1] host: a login: ", "success: '", "/tcp ssh: '", "found password: ", "$krb5tgs$23$", "* ntlm "),
    ],
)
def test_hostile_lines_take_linear_time(unit):
    redact(unit * (200_000 // len(unit)))
