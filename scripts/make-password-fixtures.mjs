import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ensure.mjs'

// node scripts/make-password-fixtures.mjs: makes testing/foreign-passwords.json anew with the libraries that the hashes come from.
// Needs python3, go, php and npm; what they load stays below .data/.
const DIRECTORY = join(root, '.data/password-fixtures')
const PASSWORD = 'correct horse battery'
// A ligature, an umlaut and an emoji: whoever normalises them, or reads another encoding, gets another hash.
const UNUSUAL = 'ﬁsh & Pässwörd 🔑'
const LONG = `${'0123456789'.repeat(7)}ab and what bcrypt does not read`

const PYTHON = `
import json, sys
from passlib.hash import argon2, bcrypt, pbkdf2_sha256, scrypt
from django.conf import settings
settings.configure(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"])
from django.contrib.auth.hashers import make_password
made = []
for password in json.loads(sys.argv[1]):
    add = lambda by, format, value: made.append({"made_by": by, "password": password, "given": {"format": format, "value": value}})
    add("passlib argon2", "argon2id", argon2.hash(password))
    add("passlib argon2, type I", "argon2i", argon2.using(type="I", rounds=2, memory_cost=8192).hash(password))
    add("passlib bcrypt", "bcrypt", bcrypt.using(rounds=10).hash(password))
    add("passlib scrypt", "scrypt-passlib", scrypt.hash(password))
    add("passlib pbkdf2_sha256", "pbkdf2-sha256-passlib", pbkdf2_sha256.hash(password))
    add("Django", "pbkdf2-sha256-django", make_password(password))
print(json.dumps(made))
`

// No Keycloak runs here: the members are those of its credentials, the hashes are made by x/crypto.
const GO = `package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"os"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/pbkdf2"
)

type given map[string]any

func main() {
	var passwords []string
	if err := json.Unmarshal([]byte(os.Args[1]), &passwords); err != nil {
		panic(err)
	}
	made := []map[string]any{}
	for _, password := range passwords {
		add := func(by string, members given) {
			made = append(made, map[string]any{"made_by": by, "password": password, "given": members})
		}
		short := []byte(password)
		if len(short) > 72 {
			short = short[:72]
		}
		crypted, err := bcrypt.GenerateFromPassword(short, 12)
		if err != nil {
			panic(err)
		}
		add("Go x/crypto bcrypt", given{"format": "bcrypt", "value": string(crypted)})
		salt := make([]byte, 16)
		rand.Read(salt)
		text := base64.RawStdEncoding.EncodeToString
		key := argon2.IDKey([]byte(password), salt, 1, 64*1024, 4, 32)
		add("Go x/crypto argon2", given{"format": "argon2id", "value": fmt.Sprintf("$argon2id$v=19$m=65536,t=1,p=4$%s$%s", text(salt), text(key))})
		for algorithm, of := range map[string]struct {
			hash       func() hash.Hash
			iterations int
			bytes      int
		}{"pbkdf2-sha256": {sha256.New, 27500, 64}, "pbkdf2-sha512": {sha512.New, 210000, 64}} {
			key := pbkdf2.Key([]byte(password), salt, of.iterations, of.bytes, of.hash)
			add("Go x/crypto pbkdf2 in Keycloak's members", given{"format": "pbkdf2-keycloak",
				"value": base64.StdEncoding.EncodeToString(key), "salt": base64.StdEncoding.EncodeToString(salt),
				"iterations": of.iterations, "algorithm": algorithm})
		}
	}
	json.NewEncoder(os.Stdout).Encode(made)
}
`

const NODE = `
import { hashPassword } from 'better-auth/crypto'
import bcrypt from 'bcryptjs'
const made = []
for (const password of JSON.parse(process.argv[2])) {
  const add = (made_by, format, value) => made.push({ made_by, password, given: { format, value } })
  add('better-auth', 'scrypt-better-auth', await hashPassword(password))
  add('bcryptjs', 'bcrypt', await bcrypt.hash(password, 10))
}
console.log(JSON.stringify(made))
`

const PHP = `
$made = [];
foreach (json_decode($argv[1]) as $password) {
  $made[] = ['made_by' => 'PHP password_hash', 'password' => $password, 'given' => ['format' => 'bcrypt', 'value' => password_hash($password, PASSWORD_BCRYPT)]];
}
echo json_encode($made);
`

/** Published at https://github.com/firebase/scrypt. */
const FIREBASE = {
  made_by: 'Firebase, published',
  password: 'user1password',
  given: {
    format: 'firebase-scrypt',
    value: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    salt: '42xEC+ixf3L2lw==',
    signer_key: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
    salt_separator: 'Bw==',
    rounds: 8,
    mem_cost: 14,
  },
}

mkdirSync(DIRECTORY, { recursive: true })
const run = (command, ...args) =>
  execFileSync(command, args, { cwd: DIRECTORY, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const write = (name, text) => writeFileSync(join(DIRECTORY, name), text)

run('python3', '-m', 'venv', 'venv')
run('venv/bin/pip', 'install', '-q', 'passlib==1.7.4', 'django==5.2.19', 'bcrypt==4.0.1', 'argon2-cffi==25.1.0')
write('make.py', PYTHON)
write('package.json', '{"type":"module"}')
run('npm', 'install', '--silent', '--no-save', 'better-auth@1.7.25', 'bcryptjs@3.0.3')
write('make.mjs', NODE)

write('main.go', GO)
write('go.mod', 'module fixtures\n\ngo 1.24.0\n\nrequire golang.org/x/crypto v0.45.0\n')
run('go', 'mod', 'tidy')

const passwords = JSON.stringify([PASSWORD, UNUSUAL, LONG])
const made = [
  run('venv/bin/python', 'make.py', passwords),
  run('go', 'run', '.', passwords),
  run(process.execPath, 'make.mjs', passwords),
  run('php', '-r', PHP, '--', passwords),
].flatMap((text) => JSON.parse(text))
const file = join(root, 'testing/foreign-passwords.json')
writeFileSync(file, `${JSON.stringify([...made, FIREBASE], null, 2)}\n`)
process.stdout.write(`${made.length + 1} hashes in ${file}\n`)
