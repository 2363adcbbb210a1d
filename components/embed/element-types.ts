/** What your backend answers to your page: the answer of the service, with the time that it sent in `authenticated_at`. */
export interface PageToken {
  page_token: string
  expires_at: string
  /** When the person last proved to you who they are; without it nothing counts as a fresh sign-in. */
  authenticated_at?: string | undefined
  /** What the service answered to your backend in place of a token, by which the parts say that the account is gone. */
  error?: { code: string; details?: string } | undefined
}

/** A deletion that has begun: the properties of `<DeletionProgress>`, and the `detail` of the event `deletion-started`. */
export interface StartedDeletion {
  withdrawalId: string
  /** Reads the progress of this deletion, and nothing else. */
  statusToken: string
}

/**
 * `<account-email>` or `<account-deletion>`. Attributes: `service`, `user`, `token-url` (or the property `pageToken`), `product`,
 * `support-email`; optional `language`, `password`, `sign-in-url`.
 */
export interface AccountElement extends HTMLElement {
  /** In place of `token-url`, for a backend that wants headers of its own. Null where nobody is signed in to your product. */
  pageToken?: (() => Promise<PageToken | null>) | undefined
}

declare global {
  interface HTMLElementTagNameMap {
    'account-email': AccountElement
    'account-deletion': AccountElement
  }
  /** Of elements, the document and the window, because the events rise. */
  interface GlobalEventHandlersEventMap {
    /** The new address is in effect. */
    'email-changed': CustomEvent<{ email: string }>
    /** Sign the person out of your product then. */
    'deletion-started': CustomEvent<StartedDeletion>
  }
}
