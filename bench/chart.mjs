import { readFileSync, writeFileSync } from 'node:fs'

// node bench/chart.mjs: draws docs/performance.svg from the table of docs/performance.md.
const SERIES = [
  { name: 'service', color: '#1d4ed8' },
  { name: 'floor', color: '#6b7280' },
  { name: 'peer', color: '#c2410c' },
]
const [LEFT, RIGHT, TOP, ROW, WIDTH] = [200, 40, 56, 34, 760]
const [MIN, MAX] = [10, 100_000]

const rows = readFileSync('docs/performance.md', 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, what = '', service]) => /^\w/.test(what) && /^\d+$/.test(service ?? ''))
  .map(([, what, ...values]) => ({ what, values: values.slice(0, SERIES.length).map(Number) }))

const height = TOP + rows.length * ROW + 40
const x = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log10(value / MIN)) / Math.log10(MAX / MIN)
const text = (at, y, content, attributes = '') => `<text x="${at}" y="${y}" ${attributes}>${content}</text>`

const ticks = [10, 100, 1_000, 10_000, 100_000].map((tick) => {
  const line = `<line x1="${x(tick)}" x2="${x(tick)}" y1="${TOP - 14}" y2="${height - 34}" stroke="#e5e7eb"/>`
  return line + text(x(tick), height - 16, tick.toLocaleString('en'), 'text-anchor="middle" fill="#4b5563"')
})
const legend = SERIES.map(({ name, color }, index) => {
  const at = LEFT + index * 100
  return `<circle cx="${at}" cy="22" r="6" fill="${color}"/>${text(at + 12, 26, name)}`
})
const lines = rows.map(({ what, values }, index) => {
  const y = TOP + index * ROW + ROW / 2
  const known = values.filter(Boolean)
  const span = `<line x1="${x(Math.min(...known))}" x2="${x(Math.max(...known))}" y1="${y}" y2="${y}" stroke="#d1d5db" stroke-width="2"/>`
  // The service comes last, so that it stands in front.
  const dots = values.map((value, n) => value && `<circle cx="${x(value)}" cy="${y}" r="6" fill="${SERIES[n].color}"/>`)
  return text(LEFT - 16, y + 4, what, 'text-anchor="end"') + span + dots.filter(Boolean).reverse().join('')
})

writeFileSync(
  'docs/performance.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#111827">
<title>Requests a second of service, floor and peer, on a logarithmic scale</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${[...legend, text(WIDTH - RIGHT, 26, 'requests a second, logarithmic', 'text-anchor="end" fill="#4b5563"'), ...ticks, ...lines].join('\n')}
</svg>
`,
)
