import type { DetailedHTMLProps, HTMLAttributes } from 'react'
import type { AccountElement } from './element-types'

interface ElementProps extends DetailedHTMLProps<HTMLAttributes<AccountElement>, AccountElement> {
  service: string
  user: string
  product: string
  'support-email': string
  'token-url'?: string | undefined
  pageToken?: AccountElement['pageToken']
  language?: string | undefined
  password?: boolean | undefined
  'sign-in-url'?: string | undefined
}

type Handler<Type extends 'email-changed' | 'deletion-started'> = {
  [On in `on${Type}`]?: ((event: GlobalEventHandlersEventMap[Type]) => unknown) | undefined
}

// Apart from the elements' own types, because a page with the elements may have no React.
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'account-email': ElementProps & Handler<'email-changed'>
      'account-deletion': ElementProps & Handler<'deletion-started'>
    }
  }
}
