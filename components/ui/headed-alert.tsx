'use client'

import { type ComponentProps, useContext } from 'react'
import { Alert } from './alert'
import { withWholeHyphens } from './bold'
import { CardLevel } from './card-header'

interface HeadedAlertProps extends ComponentProps<typeof Alert> {
  titleId?: string
}

/** An alert that stays on the page: its title is a heading, so that whoever goes from heading to heading finds it. */
export function HeadedAlert({ title, titleId, ...rest }: HeadedAlertProps) {
  const Heading = useContext(CardLevel)
  return <Alert title={<Heading id={titleId}>{withWholeHyphens(title)}</Heading>} {...rest} />
}
