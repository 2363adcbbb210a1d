import type { ReactNode } from 'react'
import type { ShownDelivery, ShownStep } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { nameOfEvent } from '@/contract/words'
import { StepName } from './step-texts'

/** What a retry has tried again. */
export interface Tried {
  id: string
  /** Who does it. */
  name: ReactNode
  attempts: number
  last_error: string | null
  due_at: string | null
  /** Its application is disabled, and is not called. */
  is_disabled?: boolean
}

/** What the step does by itself. */
export const triedStep = ({ step: id, attempts, last_error, due_at }: ShownStep): Tried => ({
  id,
  name: <StepName step={id} />,
  attempts,
  last_error,
  due_at,
})

/** Nothing tries a task whose application asks for it. */
export const triedTask = ({
  task_id: id,
  name,
  is_app_disabled,
  attempts,
  last_error,
  due_at,
  polls,
}: ShownTask): Tried => ({
  id,
  name,
  attempts,
  last_error,
  due_at: polls ? null : due_at,
  is_disabled: is_app_disabled,
})

export const triedDelivery = ({
  webhook_id: id,
  app_name,
  type,
  attempts,
  last_error,
  due_at,
}: ShownDelivery): Tried => ({
  id,
  name: `${app_name} (${nameOfEvent(type)})`,
  attempts,
  last_error,
  due_at,
})
