export { default, generateMetadata } from '../[...unknown]/not-found'
