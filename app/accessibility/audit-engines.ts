/** The engines that audit the pages. The first runs with every `npm test`, the second with `npm run lab -- accessibility`. A test checks the versions. */
export const AUDIT_ENGINES = ['axe-core 4.14.1', 'IBM Equal Access 4.0.34']

/** The day on which both last audited the pages. Whoever runs the second one writes it down. */
export const AUDITED_ON = new Date('2026-11-28')
