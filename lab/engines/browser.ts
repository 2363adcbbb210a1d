import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { freePort } from '@/testing/listening'
import { until, within } from '@/testing/until'

/** The commands that both protocols have. Input is real input of a pointer and of keys. */
interface Protocol {
  navigate(url: string): Promise<void>
  /** The value of a JavaScript expression in the page, which JSON can hold. */
  evaluate(expression: string): Promise<unknown>
  /** The actions of W3C WebDriver, which both protocols share. */
  act(actions: object[]): Promise<unknown>
  /** Deletes the cookies of the page. */
  forget(): Promise<unknown>
  close(): Promise<void>
}

export type EngineName = 'Firefox' | 'WebKitGTK'

const MINI_BROWSER = process.env.MINI_BROWSER ?? ''
const SIZE = { width: 1280, height: 900 }

/** Firefox speaks WebDriver BiDi by itself. */
async function firefox(): Promise<Protocol> {
  const profile = await mkdtemp(path.join(tmpdir(), 'firefox-'))
  const flags = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank']
  const child = spawn('firefox-esr', flags, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  })
  const [, address] = await matchOutput(child.stderr, /WebDriver BiDi listening on (ws:\S+)/)
  const socket = new WebSocket(`${address}/session`)
  const waiting = new Map<number, (answer: { result?: never; message?: string }) => void>()
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data))
    waiting.get(answer.id)?.(answer)
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  let last = 0
  const send = (method: string, params: object): Promise<Record<string, never>> => {
    const id = ++last
    socket.send(JSON.stringify({ id, method, params }))
    const answer = new Promise<Record<string, never>>((resolve, reject) =>
      waiting.set(id, ({ result, message }) => (result ? resolve(result) : reject(new Error(`${method}: ${message}`)))),
    )
    return within(() => `Firefox answers ${method} ${JSON.stringify(params)}`, answer)
  }
  await send('session.new', { capabilities: {} })
  const { contexts } = (await send('browsingContext.getTree', {})) as unknown as { contexts: { context: string }[] }
  const context = contexts[0]?.context
  await send('browsingContext.setViewport', { context, viewport: SIZE })
  return {
    async navigate(url) {
      // The command never returns for a page that navigates on while it loads.
      await send('browsingContext.navigate', { context, url, wait: 'none' })
    },
    async evaluate(expression) {
      const params = { expression: `JSON.stringify(${expression})`, target: { context }, awaitPromise: true }
      const { result } = (await send('script.evaluate', params)) as { result?: { value?: string } }
      return result?.value === undefined ? undefined : JSON.parse(result.value)
    },
    act: (actions) => send('input.performActions', { context, actions }),
    forget: () => send('storage.deleteCookies', {}),
    async close() {
      socket.close()
      await endProcess(child)
      await rm(profile, { recursive: true, force: true })
    },
  }
}

/** WebKitGTK speaks W3C WebDriver through a program of its own, and needs a screen. */
async function webkit(): Promise<Protocol> {
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1400x1100x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const [display] = await matchOutput(screen.stdio[3] as Readable, /\d+/)
  const home = await mkdtemp(path.join(tmpdir(), 'webkit-'))
  const port = await freePort()
  const child = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: { ...process.env, HOME: home, DISPLAY: `:${display}` },
  })
  const send = async (method: string, place: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${place}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    })
    const { value } = (await answer.json()) as { value: Record<string, string> | string }
    if (!answer.ok) throw new Error(`${place}: ${JSON.stringify(value)}`)
    return value
  }
  const options = { 'webkitgtk:browserOptions': { binary: MINI_BROWSER, args: ['--automation'] } }
  const session = await until('WebKitWebDriver answers', () =>
    send('POST', '/session', { capabilities: { alwaysMatch: options } }),
  )
  const own = `/session/${(session as Record<string, string>).sessionId}`
  await send('POST', `${own}/window/rect`, { ...SIZE, x: 0, y: 0 })
  return {
    async navigate(url) {
      await send('POST', `${own}/url`, { url })
    },
    async evaluate(expression) {
      const script = `const [done] = arguments; Promise.resolve(${expression}).then((v) => done(JSON.stringify(v)))`
      const value = await send('POST', `${own}/execute/async`, { script, args: [] })
      return typeof value === 'string' ? JSON.parse(value) : undefined
    },
    act: (actions) => send('POST', `${own}/actions`, { actions }),
    forget: () => send('DELETE', `${own}/cookie`),
    async close() {
      await send('DELETE', own).catch(() => {})
      await endProcess(child)
      await endProcess(screen)
      await rm(home, { recursive: true, force: true })
    },
  }
}

const ENGINES: Record<EngineName, () => Promise<Protocol>> = { Firefox: firefox, WebKitGTK: webkit }

/** A page in one of the engines. Controls are found as a person finds them, by the name that the page gives them. */
export class Browser {
  private constructor(
    private readonly name: EngineName,
    private readonly protocol: Protocol,
  ) {}

  static async open(name: EngineName): Promise<Browser> {
    return new Browser(name, await ENGINES[name]())
  }

  close = () => this.protocol.close()

  async goto(url: string) {
    // An address that differs in its fragment alone would load nothing.
    await this.protocol.navigate('about:blank')
    await this.loaded(`location.href === 'about:blank'`)
    await this.protocol.navigate(url)
    await this.loaded(`location.href !== 'about:blank'`)
  }

  private loaded = (isThere: string) =>
    until(
      `${this.name} has loaded the page`,
      () => this.evaluate(`${isThere} && document.readyState === 'complete'`) as Promise<boolean>,
    )

  forget = () => this.protocol.forget()

  evaluate = (expression: string) => this.protocol.evaluate(expression)

  text = async () => String(await this.evaluate('document.body.innerText'))

  address = async () => String(await this.evaluate('location.href'))

  sees(text: string, withinMs = 30_000) {
    return until(`${this.name} shows “${text}”`, async () => (await this.text()).includes(text), withinMs).catch(
      async (error) => {
        throw new Error(`${error.message}; it shows:\n${await this.text()}`)
      },
    )
  }

  /** Presses what has this name: a button, a link, a summary or the control of a label. */
  async press(name: string) {
    const { x, y } = await this.placeOf(name)
    const pointer = [
      { type: 'pointerMove', x, y, origin: 'viewport' },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await this.protocol.act([{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: pointer }])
  }

  /** Types where the focus is. */
  async type(text: string) {
    const keys = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.protocol.act([{ type: 'key', id: 'keys', actions: keys }])
  }

  async fill(label: string, text: string) {
    await this.press(label)
    await this.type(text)
    await until(
      `“${label}” has what was typed`,
      async () => {
        const value = await this.evaluate('document.activeElement.value')
        return value === text
      },
      5_000,
    )
  }

  /** Inserts the whole text at once, as a paste does. */
  async paste(label: string, text: string) {
    await this.press(label)
    await this.evaluate(`document.execCommand('insertText', false, ${JSON.stringify(text)})`)
  }

  /** The middle of a visible control, once it stands still and can be pressed. */
  private async placeOf(name: string): Promise<{ x: number; y: number }> {
    const find = () =>
      this.evaluate(`(${placeInPage})(${JSON.stringify(name)})`) as Promise<{ x: number; y: number } | null>
    let before: string | undefined
    return until(
      `${this.name} can press “${name}”`,
      async () => {
        const place = await find()
        const isStill = JSON.stringify(place) === before
        before = JSON.stringify(place)
        return isStill ? place : null
      },
      30_000,
    ).catch(async (error) => {
      throw new Error(`${error.message}; it shows:\n${await this.text()}`)
    })
  }
}

/** This function runs in the page. */
const placeInPage = `(name) => {
  const nameOf = (element) => (element.getAttribute('aria-label') ?? element.innerText ?? '').trim()
  const controls = [...document.querySelectorAll('button, a[href], summary, [role=menuitem]')].filter((one) => nameOf(one) === name)
  const labelled = [...document.querySelectorAll('label')].filter((one) => nameOf(one) === name).map((one) => one.control)
  const own = [...document.querySelectorAll('input, textarea')].filter((one) => one.getAttribute('aria-label') === name)
  const found = [...labelled, ...own, ...controls].find((one) => one && one.checkVisibility() && !one.disabled)
  if (!found) return null
  found.scrollIntoView({ block: 'center', behavior: 'instant' })
  const { x, y, width, height } = found.getBoundingClientRect()
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) }
}`

/** Waits until the output of a process matches the pattern. */
function matchOutput(stream: Readable, pattern: RegExp): Promise<string[]> {
  let said = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => {
      said += chunk
      const match = pattern.exec(said)
      if (match) resolve([...match])
    })
    stream.once('end', () => reject(new Error(`it ended: ${said}`)))
  })
}

const endProcess = (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  return ended
}
