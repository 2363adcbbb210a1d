import '../api/zod-settings'
import styles from 'account-parts/styles'
import type { ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { DEFAULT_LANGUAGE, type Language, languageFor } from '@/contract/languages'
import type { AccountElement as Declared, PageToken } from './element-types'
import { AccountProvider, DeleteAccount, EmailSettings } from './react'
import type { Texts } from './types'

const TEXTS: Record<Language, () => Promise<{ default: Texts }>> = {
  en: () => import('account-parts/texts/en'),
  de: () => import('account-parts/texts/de'),
  fr: () => import('account-parts/texts/fr'),
  es: () => import('account-parts/texts/es'),
  'pt-BR': () => import('account-parts/texts/pt-BR'),
  ja: () => import('account-parts/texts/ja'),
}

/** The languages that the console has named. */
const missing = new Set<string>()

/** The texts of the nearest language. */
function textsIn(tag: string) {
  const language = languageFor(tag)
  if (!language && !missing.has(tag)) {
    missing.add(tag)
    // biome-ignore lint/suspicious/noConsole: people read English, and whoever builds the page has to learn why.
    console.warn(`There are no texts for language="${tag}".`)
  }
  return TEXTS[language ?? DEFAULT_LANGUAGE]()
}

abstract class AccountElement extends HTMLElement implements Declared {
  static observedAttributes = ['service', 'user', 'product', 'support-email', 'language', 'password', 'sign-in-url']
  declare pageToken?: Declared['pageToken']
  private root: Root | undefined

  protected abstract content(): ReactNode

  connectedCallback(): void {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(styles)
    shadow.adoptedStyleSheets = [sheet]
    this.root ??= createRoot(shadow)
    void this.show()
  }

  disconnectedCallback(): void {
    // An element that only moves is there again by then, with what was typed.
    queueMicrotask(() => {
      if (this.isConnected) return
      this.root?.unmount()
      this.root = undefined
    })
  }

  attributeChangedCallback(): void {
    if (this.root) void this.show()
  }

  /** What keeps the part from being shown stands in its place, for whoever builds the page. */
  private async show(): Promise<void> {
    await this.draw().catch((error: Error) => {
      this.root?.render(<p>{error.message}</p>)
      throw error
    })
  }

  private async draw(): Promise<void> {
    const { default: texts } = await textsIn(this.getAttribute('language') || DEFAULT_LANGUAGE)
    this.root?.render(
      <AccountProvider
        baseUrl={this.given('service')}
        userId={this.given('user')}
        pageToken={() => this.askForToken()}
        signInAgain={this.getAttribute('sign-in-url') ?? undefined}
        hasPassword={this.hasAttribute('password')}
        texts={texts}
        product={this.given('product')}
        supportEmail={this.given('support-email')}
      >
        <div className={this.previousElementSibling instanceof AccountElement ? 'follows' : ''}>{this.content()}</div>
      </AccountProvider>,
    )
  }

  private given(name: string, otherwise = ''): string {
    const value = this.getAttribute(name)
    if (value === null) throw new Error(`<${this.localName}> needs the attribute ${name}${otherwise}.`)
    return value
  }

  protected emit<Type extends 'email-changed' | 'deletion-started'>(
    type: Type,
    detail: GlobalEventHandlersEventMap[Type]['detail'],
  ) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }))
  }

  /** Null if nobody is signed in to the adopter's product. */
  private async askForToken(): Promise<PageToken | null> {
    if (this.pageToken) return this.pageToken()
    const answer = await fetch(this.given('token-url', ' or the property pageToken'), {
      method: 'POST',
      cache: 'no-store',
    })
    if (answer.status === 401) return null
    return answer.json().catch(() => {
      throw new Error(`${answer.url} answered ${answer.status} without JSON.`)
    })
  }
}
// A framework sets a property only where it finds one, and an own one would hide what was set before the element was defined.
AccountElement.prototype.pageToken = undefined

class AccountEmail extends AccountElement {
  protected content = () => <EmailSettings onChanged={(email) => this.emit('email-changed', { email })} />
}

class AccountDeletion extends AccountElement {
  protected content = () => <DeleteAccount onStarted={(started) => this.emit('deletion-started', started)} />
}

customElements.define('account-email', AccountEmail)
customElements.define('account-deletion', AccountDeletion)
