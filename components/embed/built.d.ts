/** What `scripts/pack-parts.ts` makes: the style sheet of the parts, their colors in light and dark, and the compiled texts of a language. */
declare module 'account-parts/styles' {
  const styles: string
  export default styles
}
declare module 'account-parts/colors' {
  const colors: string
  export default colors
}
declare module 'account-parts/texts/*' {
  const texts: { language: string; texts: object }
  export default texts
}
