'use client'

import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  open: boolean
  /** The action is running: the dialog stays open until its answer arrives. */
  isBusy?: boolean
  onClose: () => void
  /** Called by the confirming button, which is of the type `submit`, and by Enter in a field. */
  onConfirm: () => void
  title: string
  description: ReactNode
  /** The buttons. The harmless one comes first in the document, so that it takes the focus. */
  children: ReactNode
}

/** The browser's own modal dialog. It traps and returns the focus, and needs no style tag, which the Content-Security-Policy would refuse. */
export function Dialog({ open, isBusy = false, onClose, onConfirm, title, description, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()

  useEffect(() => {
    if (open) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way, and the browser brings it.
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-description`}
      // Not left to the close event, which may come after the dialog was opened again.
      onCancel={(event) => (isBusy ? event.preventDefault() : onClose())}
      onClose={() => {
        if (dialog.current?.open) return
        // The browser closes the dialog at a second Escape even if onCancel prevents it.
        if (open && isBusy) dialog.current?.showModal()
        else onClose()
      }}
      onClick={(event) => event.target === event.currentTarget && !isBusy && onClose()}
      className="fade-in zoom-in-95 m-auto w-[calc(100%-2rem)] max-w-md scroll-pb-36 rounded-2xl border border-line bg-surface p-0 text-start text-ink shadow-lift outline-none duration-150 backdrop:bg-[oklch(0.15_0.01_265/0.5)] open:animate-in backdrop:backdrop-blur-[2px]"
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) onConfirm()
        }}
        className="p-6"
      >
        <h2 id={`${id}-title`} className="font-semibold text-lg leading-7 tracking-[-0.01em]">
          {title}
        </h2>
        <div id={`${id}-description`} className="wrap-anywhere mt-2 text-ink-muted">
          {description}
        </div>
        <div className="[@media(min-height:30rem)]:sticky bottom-0 -mb-6 flex flex-col gap-2.5 bg-surface py-6 sm:flex-row sm:flex-wrap sm:justify-end">
          {children}
        </div>
      </form>
    </dialog>
  )
}
