"""Where secrets stand: files, command lines and sentences by the documentation of their formats and the grammar of four
languages; and what stands there that is none. Secrets are drawn when a test runs. Owns the tables of ``sample``."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

Draw = Callable[[random.Random], str]

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE32 = string.ascii_lowercase + "234567"
_DJANGO = string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)"
_SALT = _ALNUM + "!@#$%^&*()-_ []{}<>~`+=,.;:/?|"


def _of(size: int, alphabet: str = _ALNUM, before: str = "", after: str = "") -> Draw:
    return lambda rng: before + "".join(rng.choice(alphabet) for _ in range(size)) + after


def _uuid(rng: random.Random) -> str:
    return "-".join(_of(size, _HEX)(rng) for size in (8, 4, 4, 4, 12))


def password(rng: random.Random) -> str:
    """What a person would think of."""
    word = rng.choice(["Winter", "soleil", "gato", "hunter", "Pa55", "qwerty", "Lisboa", "casa"])
    digits = _of(rng.choice([2, 3, 4]), string.digits)(rng)
    return word + rng.choice(["", "!", "#", "_", "$"]) + digits + rng.choice(["", "x", "!", "Z"])


def _encoded(size: int) -> Draw:
    return lambda rng: base64.b64encode(rng.randbytes(size)).decode()


def _pair(rng: random.Random) -> str:
    return base64.b64encode(f"bob:{password(rng)}".encode()).decode()


def _teams(rng: random.Random) -> str:
    return f"{_uuid(rng)}@{_uuid(rng)}/IncomingWebhook/{_of(32, _HEX)(rng)}/{_uuid(rng)}"


def _lines(rng: random.Random) -> str:
    return "\n".join(_of(64)(rng) for _ in range(3))


#: Formats and commands: (context, how the secret in it is drawn).
FORMATS: tuple[tuple[str, Draw], ...] = (
    ("    client-key-data: {s}", _encoded(300)),
    ("client-key-data: {s}", _encoded(120)),
    (
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPublic-Lines: 2\nAAAAB3Nz\nabcd\nPrivate-Lines: 3\n{s}\nPrivate-MAC: 0123",
        _lines,
    ),
    ("export AZURE_DEVOPS_EXT_PAT={s}", _of(52, _BASE32)),
    ("git clone https://{s}@dev.azure.com/org/proj", _of(52, _BASE32)),
    ("az devops login with {s}", _of(76, after="AZ" + "DOx7Qa")),
    ("DD_APP_KEY={s}", _of(40, _HEX)),
    ("DATADOG_APP_KEY: {s}", _of(40, _HEX)),
    ("datadog application key {s}", _of(40, _HEX)),
    ("dd-application-key: {s}", _of(40, _HEX)),
    ("APP_KEY=base64:{s}", _encoded(32)),
    ('<add key="DbPassword" value="{s}" />', password),
    ('<property name="hibernate.connection.password" value="{s}"/>', password),
    ('<property name="password">{s}</property>', password),
    ('<entry key="db.password">{s}</entry>', password),
    ('<string name="api_key">{s}</string>', _of(32)),
    ('<param value="{s}" name="password"/>', password),
    ("- name: DB_PASSWORD\n  value: {s}", password),
    ('{{"name": "DB_PASSWORD", "value": "{s}"}}', password),
    ("db.example.com:5432:shop:app:{s}", password),
    ("*:*:*:postgres:{s}", password),
    ("root:$6$abcdefgh${s}:19000:0:99999:7:::", _of(86)),
    ("ana:$apr1$abcd1234${s}", _of(22)),
    ("bob:$2y$05${s}", _of(53)),
    ("ana:{{SHA}}{s}", _encoded(20)),
    ("jdbc:oracle:thin:scott/{s}@db:1521:orcl", password),
    ("sqlplus scott/{s}@orcl", password),
    ("jdbc:oracle:thin:scott/{s}@//db:1521/svc", password),
    ("SECRET_KEY = 'django-insecure-{s}'", _of(50, _DJANGO)),
    ("SECRET_KEY = '{s}'", _of(50, _DJANGO)),
    ("DJANGO_SECRET_KEY={s}", _of(50, _DJANGO)),
    ("pulumi token {s}", _of(40, _HEX, "pu" + "l-")),
    ("cargo login {s}", _of(32, before="ci" + "o")),
    ("{s} is my nuget key", _of(43, string.ascii_lowercase + string.digits, "oy" + "2")),
    ("FCM {s}", _of(140, before="AA" + "AAx7Qa1Zk:")),
    ("https://api.telegram.org/bot{s}/getMe", _of(33, before="61" + "23456789:AA")),
    ('client = Client("AC0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f", "{s}")', _of(32, _HEX)),
    ("echo {s} | sudo -S apt update", password),
    ("echo '{s}' | sudo -S ls", password),
    ('echo "{s}" | sudo --stdin ls', password),
    ("sudo -S ls <<< {s}", password),
    ("printf '%s\\n' '{s}' | sudo -S id", password),
    ("zip -P {s} out.zip a", password),
    ("zip -r -P {s} out.zip a", password),
    ("unzip -P {s} a.zip", password),
    ("7z x a.7z -p{s}", password),
    ("7z a -p'{s}' a.7z b", password),
    ("unrar x -p{s} a.rar", password),
    ("net use Z: \\\\srv\\share /user:bob {s}", password),
    ("net use \\\\srv\\share {s} /user:bob", password),
    ("net user bob {s} /add", password),
    ("openssl enc -aes-256-cbc -k {s} -in a", password),
    ("openssl aes-256-cbc -d -in a -k {s}", password),
    ("openssl pkcs12 -in a.p12 -passin pass:{s} -nodes", password),
    ("openssl rsa -passout pass:{s}", password),
    ("curl -u bob:{s} https://x", password),
    ("curl --user 'bob:{s}' https://x", password),
    ("mysql -u root -p{s} db", password),
    ("sshpass -p {s} ssh a@b", password),
    ("sshpass -p '{s}' ssh a@b", password),
    ("PGPASSWORD={s} psql -h x", password),
    ("PGPASSWORD='{s}' psql -h x", password),
    ("ansible-playbook -e ansible_become_pass={s} a.yml", password),
    ("ansible_ssh_pass={s}", password),
    ("docker login -u bob -p {s} reg", password),
    ("smbclient //h/s -U bob%{s}", password),
    ("gpg --batch --passphrase {s} -d a", password),
    ("keytool -genkey -storepass {s} -keypass x", password),
    ("ldapsearch -x -D cn=a -w {s} -b x", password),
    ("redis-cli -h x -a {s} ping", password),
    ("mongosh -u a -p {s} host", password),
    ("mongodump --password={s}", password),
    ("htpasswd -b .htpasswd bob {s}", password),
    ("htpasswd -bc /etc/nginx/.htpasswd bob {s}", password),
    ("wget --user=a --password={s} http://x", password),
    ("wget --http-password={s} http://x", password),
    ("machine x.com login bob password {s}", password),
    ("machine x.com\n  login bob\n  password {s}", password),
    ("//npm.example.com/:_authToken={s}", _of(36)),
    ("//r/:_password={s}", _encoded(12)),
    ("_auth={s}", _pair),
    ("[pypi]\nusername = bob\npassword = {s}", password),
    ('<add key="ClearTextPassword" value="{s}" />', password),
    ("<server><id>x</id><username>b</username><password>{s}</password></server>", password),
    ("signing.password={s}", password),
    ("nexusPassword={s}", password),
    ("define('DB_PASSWORD', '{s}');", password),
    ("define( 'AUTH_KEY', '{s}' );", _of(64, _SALT)),
    ('<add name="x" connectionString="Server=s;Database=d;User Id=sa;Password={s};" />', password),
    ('password = "{s}"', password),
    ('"auths": {{"https://index.docker.io/v1/": {{"auth": "{s}"}}}}', _pair),
    ("https://bob:{s}@github.com", password),
    ('{{"kty":"EC","crv":"P-256","x":"aa","y":"bb","d":"{s}"}}', _of(43)),
    ("PrivateKey = {s}", _encoded(32)),
    ("PresharedKey = {s}", _encoded(32)),
    ("untrusted comment: minisign encrypted secret key\n{s}", _of(204, before="RWRTY" + "0Iy")),
    ("https://acme.webhook.office.com/webhookb2/{s}", _teams),
)

#: Sentences; ``{s0}`` is another password, which is to go too.
SENTENCES: tuple[str, ...] = (
    "username bob, password {s}",
    "user bob pw {s}",
    "pw: {s}",
    "PW={s}",
    "changed to {s}",
    "I changed it to {s} yesterday",
    "mi clave del wifi es {s}",
    "la clave es {s}",
    "connecte-toi avec le mot de passe {s}",
    "o usuário é bob e senha {s}",
    "usuario bob y contraseña {s}",
    "entra con usuario ana y clave {s}",
    "The password for the staging db was changed to {s}.",
    "the password has been reset to {s}",
    "set the password to {s}",
    "we set the admin password to `{s}`",
    "Password: `{s}`",
    "**Password:** {s}",
    "Password:\n{s}",
    "the new password is\n```\n{s}\n```",
    "password -> {s}",
    "the password is not {s0} but {s}",
    "la contraseña no es {s0} sino {s}",
    "le mot de passe n'est pas {s0} mais {s}",
    "a senha não é {s0} mas {s}",
    "the old password was {s0}, the new one is {s}",
    "password changed from {s0} to {s}",
    "cambié la contraseña de {s0} a {s}",
    "use {s} as the password",
    "{s} is the password",
    "usa {s} como contraseña",
    "utilise {s} comme mot de passe",
    "use {s} como senha",
    "con la contraseña {s} funciona",
    "la contraseña del servidor es {s}",
    "la contraseña ahora es {s}",
    "le nouveau mot de passe est {s}",
    "le mdp du wifi c'est {s}",
    "a senha do wifi é {s}",
    "a senha foi alterada para {s}",
    "mudei a senha para {s}",
    "he cambiado la contraseña a {s}",
    "j'ai changé le mot de passe en {s}",
    "log in as bob with password {s}",
    "log in with bob / {s} (credentials: bob / {s})",
    "the wifi password's {s}",
    "my pwd is {s} ok?",
    "pass: {s}",
    "- password: {s}",
    "- user: bob\n- pass: {s}",
    'contraseña "{s}"',
    "contraseña '{s}'",
    "mot de passe : {s}",
    "mot de passe « {s} »",
    "Try password {s}, please",
    "it is admin with password '{s}'",
    "Passwort: {s}",
    "the root password of the box should be {s}",
    "passphrase for the key: {s}",
    "passphrase is {s}",
    "La clave nueva: {s}",
    "clave={s}",
    "senha {s}",
    "Senha nova: {s}",
    "minha senha é {s}",
    "type {s} when it asks for the password",
    "la contraseña quedó como {s}",
    "la contraseña era {s}",
)

PHRASES: tuple[str, ...] = (
    "seed phrase: {s}",
    "my recovery phrase is {s}",
    "frase semilla: {s}",
    "phrase de récupération : {s}",
    "frase de recuperação: {s}",
    'mnemonic = "{s}"',
    "MNEMONIC='{s}'",
    "wallet seed: {s}",
    "la frase de recuperación de mi cartera es {s}",
    "Here are the 12 words of my wallet: {s}",
)

#: Twenty-four words of the list for such phrases.
WORDS = [
    "abandon",
    "legal",
    "winner",
    "thank",
    "year",
    "wave",
    "sausage",
    "worth",
    "useful",
    "zoo",
    "letter",
    "advice",
    "cage",
    "absurd",
    "amount",
    "doctor",
    "acoustic",
    "avoid",
    "puppy",
    "echo",
    "velvet",
    "orbit",
    "mimic",
    "tunnel",
]

#: Nothing in these is secret.
HARMLESS = r"""
password = getpass()
password = getpass.getpass("Password: ")
password: str
password: Optional[str] = None
password: z.string().min(8)
def login(username: str, password: str) -> Token:
The password must be at least 12 characters and contain 1 digit.
Passwords are hashed with argon2id before they are stored.
The password field was changed to type=password in PR #1234.
we changed the password hashing from bcrypt to argon2id
password hashing moved from SHA-256 to PBKDF2-HMAC-SHA256
password reset email sent at 2024-05-01T10:00:00Z
la contraseña se guarda con bcrypt y 12 rondas
el campo contraseña es obligatorio en la versión 2.3.1
le mot de passe est haché avec sha256
a senha é validada no passo 3
password_hash = hashlib.sha256(password.encode()).hexdigest()
if password != confirm_password: raise ValueError("Passwords do not match")
test_password_reset_token_expires_after_24h
tests/test_password_reset.py::test_login_with_wrong_password_returns_401 PASSED
git commit -m "Fix password reset (#1234)"
changed to v2.14.0
The default was changed to 30s.
I changed it to utf-8 and it works
set to 0x7f3a
bumped node from v18.2.0 to v20.1.0
password="${DB_PASSWORD}"
password: "{{ vault_db_password }}"
password: <password>
--password-stdin
echo "$PASS" | sudo -S ls
docker login -u user -p "$DOCKER_PASSWORD" registry
mysql -u root -p mydb < dump.sql
mysql -u root -p < dump.sql
psql -p 5432 -U app db
ssh -p 2222 bob@host
docker run -p 8080:80 nginx
mkdir -p /var/lib/app
cp -p a b
sshpass -e ssh bob@host
zip -r out.zip dir
7z x archive.7z -oout
openssl genrsa -out key.pem 2048
openssl req -x509 -newkey rsa:4096 -keyout key.pem -out cert.pem -days 365 -nodes
curl -u "$USER:$PASS" https://x
curl -u user:pass https://x
curl -H "Authorization: Bearer $TOKEN" https://x
redis-cli -h localhost -p 6379
ldapsearch -x -W -D cn=admin
keytool -list -keystore a.jks
net use
net user
"integrity": "sha512-abcDEF0123456789abcDEF0123456789abcDEF0123456789abcDEF0123456789abcDEF0123456789abcDEF01=="
token: string
"token_type": "bearer"
"expires_in": 3600
accessToken: string;
const token = await getToken();
const secret = process.env.SECRET_KEY;
secretKeyRef: {name: db, key: password}
csrf_token = request.cookies.get("csrftoken")
apiKey: config.apiKey
api_key=os.environ["API_KEY"]
The API key is stored in the keychain.
clave primaria: id_usuario
la clave es tener paciencia
la clave del éxito es la constancia
key: value
primary key: user_id2
The key point is that foo2 calls bar3
foreign key user_id references users(id)
seed: 42
random seed is 12345
seed words are used to train the model with some other data for the first time in the lab
Use the seed file for the tests and run the migrations again before you start with the new data
the words: alpha beta gamma delta epsilon zeta eta theta iota kappa lambda
pass the value through f1 and f2
pass: 12 fail: 3
pass@k metric, pass@10
pass rate is 98.5%
All tests pass in 3.2s
test pass 123/456
max_tokens: 4096
auth: true
auth = ("user", "pass")
login("user", "password")
"user": "postgres", "password": "postgres"
username: admin password: admin
username/password authentication
the username and password are in 1Password
user password: see 1Password
Your password will expire in 30 days
Enter password for user1:
Password for 'https://bob@github.com':
[sudo] password for bob:
passwords2024.txt was deleted
password-protected zip
passphrase (empty for no passphrase):
code: E0425
exit code is 127
pin: GPIO17
PIN 13
pin version to 1.2.3
pinned: 12345
mot de passe oublié ?
senha incorreta
token expired at 1716890000
Bearer token authentication
bearer authentication-required-here
Basic authentication
basic usage
Basic dGVzdA
Authorization: Bearer <token>
authorization: Bearer eyJ...
id: 550e8400-e29b-41d4-a716-446655440000
call_abc123DEF456ghi789JKL012
toolu_01AbCdEfGhIjKlMnOpQrStUv
chatcmpl-9abcDEFghiJKLmnoPQRstuVWXyz12
req_011CSHoEeqs5C35K2UUqR7Fy
resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b
msg_01XFDUDYJgAACzvnptvVoYEL
arn:aws:iam::123456789012:role/MyRole
ami-0abcdef1234567890
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bob@x
-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----
0x52908400098527886E0F7030069857D2E4169EE7
1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2
bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
src/app/main.c:12:5: error: expected ;
localhost:5432:postgres
0.0.0.0:8080->80/tcp
nginx:1.25.3-alpine
d41d8cd98f00b204e9800998ecf8427e  empty.txt
@types/node@18.15.11
"resolved": "https://npm.example.com/lodash/-/lodash-4.17.21.tgz"
https://example.com/a:b@c
git@github.com:org/repo.git
postgres://localhost:5432/app
postgres://user:password@localhost/db
mongodb://localhost:27017
user 'bob'@'localhost' identified by password
GRANT ALL ON db.* TO 'bob'@'%';
from passlib.hash import bcrypt
import hashlib, secrets
secrets.token_hex(16)
random.choice(string.ascii_letters)
key = "user:1234:session"
cache_key = f"user:{user_id}"
translation_key: home.title.welcome2
storage_key: app-settings-v2
license: MIT
license key: required
"private": true, "key": "F12"
encryption key is 32 bytes
the encryption key is rotated every 90 days
the signing key is RS256
jwt secret must be 256 bits
client secret is missing
session token is invalid
The access token expired after 3600s
access_token_url = https://example.com/oauth2/token
password policy: min 8 chars, 1 upper
Contraseña: mínimo 8 caracteres
password ~ /^[a-z0-9]+$/
password !== confirmPassword
password.length >= 8
PASSWORD_MIN_LENGTH=12
PASSWORD_RESET_TIMEOUT=259200
password_reset_token_hash
DB_PASSWORD_FILE=/run/secrets/db_password
""".strip().splitlines()
