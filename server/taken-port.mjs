import { createServer } from 'node:net'

/** @param {number} port */
export const portTakenMessage = (port) => `Port ${port} is taken. Set PORT to another, or end what uses it.`

/**
 * False also for what is no port, because the settings say so in their own words.
 * @param {number} port
 * @param {string | undefined} host
 * @returns {Promise<boolean>}
 */
export const isPortTaken = (port, host) =>
  new Promise((/** @type {(isPortTaken: boolean) => void} */ resolve) => {
    const probe = createServer()
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ { code }) => resolve(code === 'EADDRINUSE'))
    probe.listen(port, host, () => probe.close(() => resolve(false)))
  }).catch(() => false)
