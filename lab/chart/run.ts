import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fail, note, root } from '../../scripts/ensure.mjs'
import { skip } from '../../scripts/suites.ts'

// The chart rendered by helm and checked by kubeconform against each Kubernetes, and what it has to refuse.
const dir = path.join(root, '.data/chart')
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.19.0'
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0'
const KUBERNETES = ['1.29.0', '1.30.0', '1.31.0', '1.32.0', '1.33.0', '1.34.0', '1.35.0', '1.36.0']

const NEEDED = [
  'secretName=accounts',
  'settings.APP_URL=https://account.example.com',
  'settings.MAIL_FROM=Accounts <no-reply@example.com>',
  'settings.SUPPORT_EMAIL=support@example.com',
]
const S3 = ['settings.ARCHIVE_S3_ENDPOINT=https://s3.example.com', 'settings.ARCHIVE_S3_BUCKET=accounts']
/** By name, what is set beside what is needed. */
const GOOD = {
  bucket: S3,
  'bucket of the ledger alone': [
    'settings.LEDGER_S3_ENDPOINT=https://s3.example.com',
    'settings.LEDGER_S3_BUCKET=ledger',
  ],
  'shared claim': ['persistence.existingClaim=accounts'],
  'one pod with a claim': ['persistence.existingClaim=accounts', 'replicaCount=1'],
  ingress: [...S3, 'ingress.enabled=true', 'ingress.className=nginx', 'ingress.tlsSecretName=tls'],
  autoscaling: [...S3, 'autoscaling.enabled=true', 'autoscaling.maxReplicas=9'],
  'no budget': [...S3, 'podDisruptionBudget.enabled=false'],
  'own account and image': [
    ...S3,
    'serviceAccount.create=false',
    'serviceAccount.name=own',
    `image.digest=sha256:${'0'.repeat(64)}`,
  ],
  placed: [
    ...S3,
    'nodeSelector.disk=ssd',
    'tolerations[0].key=own',
    'tolerations[0].operator=Exists',
    'podAnnotations.a=b',
  ],
}
const REFUSED: [values: string[], sentence: string][] = [
  [[...NEEDED.slice(1), ...S3], 'secretName'],
  [[...NEEDED, ...S3, 'settings.APP_URL=http://account.example.com'], 'https://'],
  [[...NEEDED], 'erasure ledger needs a place'],
  [[...NEEDED, ...S3, 'settings.CODE_SECRET=abc'], 'is a secret'],
  [[...NEEDED, ...S3, 'settings.LEDGER_DIR=/data/ledger'], 'directory of one pod'],
  [[...NEEDED, ...S3, 'settings.ARCHIVE_DIR=/data/archives'], 'directory of one pod'],
]

mkdirSync(dir, { recursive: true })
const helm = installed('helm', HELM)
const kubeconform = installed('kubeconform', KUBECONFORM)
for (const version of KUBERNETES) {
  const schemas = schemasOf(version)
  for (const [name, values] of Object.entries(GOOD)) {
    const rendered = render([...NEEDED, ...values], version)
    if (rendered.status !== 0) fail(`${name}: ${rendered.stderr}`)
    const args = ['-strict', '-summary', '-schema-location', `${schemas}/{{.ResourceKind}}.json`, '-']
    const checked = spawnSync(kubeconform, args, { input: rendered.stdout, encoding: 'utf8' })
    if (checked.status !== 0) fail(`${name}, Kubernetes ${version}: ${checked.stdout}${checked.stderr}`)
  }
  note(`Kubernetes ${version}: ${Object.keys(GOOD).length} sets of values`)
}
for (const [values, sentence] of REFUSED) {
  const { status, stderr } = render(values)
  if (status === 0 || !stderr.includes(sentence)) fail(`${values} should be refused with "${sentence}": ${stderr}`)
}
note(`${REFUSED.length} mistakes are refused`)

function render(values: string[], version = KUBERNETES[0] as string) {
  // A number and a flag are not texts in a schema.
  const words = values.flatMap((value) => [/=(\d+|true|false)$/.test(value) ? '--set' : '--set-string', value])
  return spawnSync(helm, ['template', 'accounts', 'chart', '--kube-version', version, ...words], {
    cwd: root,
    encoding: 'utf8',
  })
}

/** From the PATH, or built from its Go module. */
function installed(name: string, module: string): string {
  const own = path.join(dir, name)
  if (existsSync(own)) return own
  if (spawnSync(name, ['version']).status === 0) return name
  const env = { ...process.env, GOBIN: dir }
  if (spawnSync('go', ['install', module], { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0) return own
  return skip(`there is no ${name}, and ${module} could not be built (Go)`)
}

interface Schema {
  properties?: object
  additionalProperties?: boolean
  type?: string | string[]
  'x-kubernetes-group-version-kind'?: { kind: string }[]
}

/** One schema for each kind, from the description that Kubernetes publishes of its own API. */
function schemasOf(version: string): string {
  const folder = path.join(dir, version)
  if (existsSync(folder)) return folder
  const module = execFileSync('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`], { encoding: 'utf8' })
  const api = readFileSync(path.join(JSON.parse(module).Dir, 'api/openapi-spec/swagger.json'), 'utf8')
  const definitions: Record<string, Schema> = JSON.parse(api).definitions
  for (const schema of Object.values(definitions)) if (schema.properties) schema.additionalProperties ??= false
  definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'] = { type: ['integer', 'string'] }
  mkdirSync(folder)
  for (const [name, { 'x-kubernetes-group-version-kind': kinds }] of Object.entries(definitions)) {
    const [only] = kinds ?? []
    if (!name.startsWith('io.k8s.api.') || !only || kinds?.length !== 1) continue
    const file = path.join(folder, `${only.kind.toLowerCase()}.json`)
    // The newest version of a kind comes last, and is the one that the chart uses; `v1` sorts before its betas.
    if (!existsSync(file) || /\.v\d+\.[^.]+$/.test(name))
      writeFileSync(file, JSON.stringify({ $ref: `#/definitions/${name}`, definitions }))
  }
  return folder
}
