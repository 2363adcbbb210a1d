export default { poweredByHeader: false, serverExternalPackages: ['better-auth', 'pg'] }
