export function saveFile(content: Blob, name: string) {
  const url = URL.createObjectURL(content)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  // The browser has begun to copy the content by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
