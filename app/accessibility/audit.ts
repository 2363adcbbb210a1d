/** What the tests of every page use; a test holds the version. */
export const AUDIT_ENGINE = 'axe-core 4.14.1'
