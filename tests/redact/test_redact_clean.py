from __future__ import annotations

import json
from collections import Counter

import pytest
from shared import OWN, SOURCES, rows_of

from trajcompress.redact import redact, redact_value

# One text a line: what names secrets, or looks like one, and holds none.
CLEAN = r"""
the password must be at least 8 characters long
Password: required
Password: must contain 8+ characters
The API key is required: set API_KEY in your shell
token: the access token to use
api_key = os.getenv("X_KEY")
api_key = os.environ["OPENAI_API_KEY"]
API_KEY = os.environ.get("API_KEY", "")
password = getpass()
password = getpass.getpass("Password: ")
pw = input("Password: ") + input("again1: ")
token = tokenizer.next()
token = tokens[i1]
key=value
api_key: str
def connect(user: str, password: str = None, token: Optional[str] = None) -> None:
client = OpenAI(api_key=api_key, token=token2)
login(user, password=password1)
login(username="someone@example.org", remember=True)
login("someone@example.org", …)
password=self.password1, token=cfg.token1
OPENAI_API_KEY=<YOUR_API_KEY>
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx
api_key="xxxx"
TOKEN=${TOKEN}
export TOKEN=$(cat key)
PASSWORD="$DB_PASSWORD"
password: ***
password: '********'
"api_key": "your-api-key-here"
API_KEY=YOUR_API_KEY
"password": "string"
{"password": {"type": "string", "format": "password"}}
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
key: 9fceb02d0ae598e95dc970b74767f19372d61af8
id: 123e4567-e89b-12d3-a456-426614174000
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==
test_that_a_very_long_identifier_name_2_is_left_alone
max_tokens=100
num_tokens: 5
"max_tokens": 4096, "total_tokens": 123456789
'tokenizer': "Qwen2Tokenizer12345"
secret_santa = "Bob12345"
pad_token = "<|endoftext|>"
"eos_token": "im_end_12345abc"
next_page_token: "CAESBgoEOgIIAQ12"
.token-color { color: #ff0000; --token: #a1b2c3 }
input[type=password] { width: 100px }
function(e,t){e.password=t.password1,e.token=n[0],e.key="k1"}
var a={password:!0,token:!1,secret:e1}
<input type="password" name="password" id="pw1">
if (token === "(") { token = next(); }
Token::Number1 | token::kFoo2
PWD=/home/user1/project2
OLDPWD=/srv/x1
pwd: /tmp/a1b2c3
primary_key = "a1b2c3d4e5f6a7b8c9d0"
CACHE_KEY = "a1b2c3d4e5f6a7b8c9d0"
-----BEGIN PUBLIC KEY-----
if "-----BEGIN RSA PRIVATE KEY-----" in text:
https://github.com/user/repo.git@v1.2.3
git+ssh://git@github.com/user/repo
http://localhost:8080/a@b
postgres://user:password@localhost/db
postgres://user:${PW}@localhost/db
postgres://<user>:<password>@host
Authorization: Bearer <token>
headers = {"Authorization": f"Bearer {token}"}
"Authorization": "Bearer " + token1
Authorization: Bearer authentication is required
Authorization: Bearer $TOKEN
-H "Authorization: Bearer YOUR_TOKEN"
Cookie: a small piece of text
--password PASSWORD   the password
--token TOKEN  Bearer token1
--api-key string
"password": "Password"
"password": "Enter your password 123"
"password": ["This field is required."]
key = "sk-learn-contrib-py37-something-else-long"
class="sk-toggleable__content fitted sk-estimator-doc-link-12345"
password: sha256
token: u64
SELECT * FROM users WHERE password = $1 AND token = ?
print(f"token={token} key={key1}")
"token=%s" % token1
print("Password: " + pw1 + " end")
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
valueFrom: secretKeyRef: {name: x, key: password}
csrf_token = get_token(request)
token: abc
"token": "hello"
{"token": "word", "logprob": -0.1}
password_hash = x
self.token = token or uuid4().hex
const secret = crypto.randomBytes(16)
SECRET_KEY = get_random_secret_key()
hf_hub_download_something_really_long_name_here
npm_config_cache_directory_and_more_stuff1
"auth": "oauth2"
signature: abcdef0123456789abcdef0123456789
tokens=[1,2,3]
passwords do not match: try again
monkey: 12345678abc
turkey="a1b2c3d4e5"
hotkey: ctrl1+shift2
a == b, key == "a1b2c3d4e5f6"
the password is required, and was changed by the user
The password is 8 characters long
use --password to give one, or --token FILE
docker login -u me --password-stdin < password.txt
mysql -u root -p shop
mysql -port 3306
mysql -h db && ssh -p2222 me@example.org
curl -u user:password https://example.org
curl -u "$USER:$TOKEN" https://example.org
curl -L https://example.org -o a:b1
sshpass -p "$PASS" ssh me@example.org
def key(self) -> PrivateKey | Ed448PrivateKey | None: ...
_HEADERS = ("authorization", "x-amz-content-sha256", "x-amz-date")
fields = ["username", "password", "address2"]
("password", "email")
{"type": "password", "label": "Password", "text": "Submit"}
{"name": "password", "value": "string", "description": "a new one"}
<label for="password">Password</label><input type="password" value="">
<password>string</password>
| name | password | role |
echo done | sudo apt update
add_argument("--password", "-p", help="to log in")
such works are identified as "derived from it"
identified by the user 'somebody'
docker run --name mongo -p 27017:27017 mongo
docker run --name some-mysql -p3306:3306 -p 127.0.0.1:80:8080 mysql
docker login; docker run -p 8080:80 a-name
mysql: gcc -pthread -pipe
mysql -e x; mkdir -pparents
gzip a ; xargs -P 100four
see ldap; ping -w 1000ms
openssl x; bypass:something
the culprit was identified by "alice"
Create a segment identified by shmid after the last detach is performed.
["redis-cli", "-a", 123456]
{"argv": ["sshpass", "-p", 123456, "ssh"]}
{"query":"docker login -p","top_k":5}
{"description": "use sshpass -p", "command": "ls1"}
{"start":"<password>","n":12,"end":"</password>"}
docker exec mongo mkdir -p /backup/daily1
{"output": "ask for -password", "rows1": []}
sshpass -p "$PASS" ssh me@host "mkdir -p /opt/app/releases1"
curl -d "$(date -u +%Y-%m-%dT%H:%M:%SZ)" https://example.org
find /var/lib/mysql -print0 -perm 644
grep -rn ldap -w /etc/nsswitch.conf
login and password changing services
message(CHECK_PASS "found")
%token WHILE_TOKEN "while"
#define CSRF_TOKEN "csrftoken"
Users with password "expired" must change it
user password 'reset' link
The password is sha256-hashed and stored
<password>xs:string</password>
git config user.signingkey 3AA5C34371567BD2
reset("password", "email")
form.add_error('password', 'tooshort')
pg_dump --no-password shop1
["pg_dump", "--no-password", "shop1"]
--ask-become-pass site1.yml --reset-password me1
aws s3 ls --starting-token Z3M3LMPEXAMPLE
"""


@pytest.mark.parametrize("text", CLEAN.strip().splitlines())
def test_what_holds_no_secret_is_left_alone(text):
    assert redact(text).text == text
    quoted = json.dumps({"content": text, "arguments": json.dumps({"text": text})})
    assert redact(quoted).text == quoted


def test_a_public_key_and_a_certificate_are_left_alone():
    body = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr7Zl0Xk3vQ9a1bYdJ2hS\n" * 4
    for kind in ("PUBLIC KEY", "CERTIFICATE"):
        text = f"-----BEGIN {kind}-----\n{body}-----END {kind}-----"
        assert redact(text).text == text


@pytest.mark.parametrize("source", SOURCES)
def test_in_real_trajectories_only_what_is_a_secret_by_name_is_redacted(source):
    kinds: Counter[str] = Counter()
    by_file: Counter[str] = Counter()
    for path in sorted([*rows_of(source).glob("*.jsonl"), *OWN.glob("text-protocols.jsonl")]):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                redacted = redact_value(json.loads(line))
                kinds.update(redacted.kinds)
                by_file[path.stem] += redacted.count
    # Made-up passwords, looked at one by one, and a site's CSRF, origin-trial and session tokens in page dumps.
    real = source == "shared"
    assert kinds == ({"password": 15, "token": 30, "session": 1} if real else {})
    assert +by_file == ({"functionchat-ko": 3, "llamafactory-toolcall": 12, "who-and-when": 31} if real else {})
