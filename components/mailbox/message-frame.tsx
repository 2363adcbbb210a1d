'use client'

import { useEffect, useRef } from 'react'

/** The message as a mail program shows it, in a frame as high as it is. */
export function MessageFrame({ html }: { html: string }) {
  const ref = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const frame = ref.current
    if (!frame) return
    const fitHeight = () => {
      const { body } = frame.contentDocument ?? {}
      if (!body) return
      frame.style.height = `${Math.ceil(body.getBoundingClientRect().height)}px`
    }
    // A new width breaks the lines anew. A message that loaded before this code ran sends no further load event.
    const observer = new ResizeObserver(fitHeight)
    observer.observe(frame)
    frame.addEventListener('load', fitHeight)
    fitHeight()
    return () => {
      observer.disconnect()
      frame.removeEventListener('load', fitHeight)
    }
  }, [])
  return (
    <iframe
      ref={ref}
      title="Message"
      // No scripts and no forms; its origin is ours, so that it can be measured. A link may open a window of its own.
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      srcDoc={html}
      className="block h-[46rem] w-full border-0"
    />
  )
}
