'use client'

import type { ComponentProps } from 'react'
import { preloadContract } from '../api/load-contract'

/** Its rules are loaded with the first focus; the browser's own stay off. */
export const Form = (props: ComponentProps<'form'>) => (
  <form method="post" noValidate onFocus={preloadContract} {...props} />
)
