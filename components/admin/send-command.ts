/** A button of /admin. Throws the sentence of the answer. */
export async function sendCommand(path: string, body?: object): Promise<Record<string, unknown>> {
  const init = { method: 'POST', ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(path, init).catch(() => null)
  const answer: Record<string, unknown> | null = (await response?.json().catch(() => null)) ?? null
  if (response?.status === 401) {
    const here = encodeURIComponent(window.location.pathname)
    window.location.assign(answer?.again ? `/sign-in?again=1&next=${here}` : '/sign-in?ended=1&next=/admin')
  }
  if (!response?.ok || !answer)
    throw new Error(String(answer?.error ?? 'It did not work. Reload the page and try again.'))
  return answer
}
