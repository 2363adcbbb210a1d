/** The first match wins, because most browsers also name the browsers they descend from. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPT|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /(?:\bCriOS|Chrome)\//],
  ['Chromium', /\bChromium\//],
  ['Safari', /\bVersion\/.*\bSafari\//],
] as const

const systems = [
  ['Windows', /\bWindows\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\bLinux\b/],
] as const

const handheld = ['iPhone', 'iPad', 'Android']

const nameIn = (userAgent: string, names: readonly (readonly [string, RegExp])[]) =>
  names.find(([, pattern]) => pattern.test(userAgent))?.[0]

interface Device {
  /** “Firefox”, and “Linux”; undefined where they are not known. */
  browser: string | undefined
  system: string | undefined
  isHandheld: boolean
}

/** The device that a user agent claims to be. It helps people recognise their own browsers; nothing may depend on it. */
export function deviceOf(userAgent: string): Device {
  const system = nameIn(userAgent, systems)
  return {
    browser: nameIn(userAgent, browsers),
    system,
    isHandheld: system !== undefined && handheld.includes(system),
  }
}
