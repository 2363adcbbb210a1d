import type en from './en.json'

declare module 'use-intl' {
  interface AppConfig {
    Messages: typeof en
  }
}
