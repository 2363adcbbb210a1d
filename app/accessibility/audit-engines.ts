/** What judges the pages: the first in the tests of every change, the second with `npm run test:accessibility`. A test holds the versions. */
export const AUDIT_ENGINES = ['axe-core 4.14.1', 'IBM Equal Access 4.0.34']
