/** Classes of the caller come beside those of the component. Where both set the same, the caller's needs an exclamation mark. */
export { clsx as cn } from 'clsx'
