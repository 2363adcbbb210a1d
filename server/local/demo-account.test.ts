import { expect, test } from 'vitest'
import { testContext } from '@/testing/domain'
import { seedDemoPerson, seedDemoUser } from './demo-account'

const ROUNDS = 5

test('instances that start at once on an empty database make one demo account with its rows, and all announce it', async () => {
  const ctx = await testContext()
  const instances = await Promise.all([1, 2, 3].map(() => testContext()))
  for (let round = 1; round <= ROUNDS; round++) {
    await ctx.db.$executeRaw`TRUNCATE users, connected_apps CASCADE`
    const announced = await Promise.all(
      instances.map(async (instance) => {
        const demo = await seedDemoUser(instance)
        await seedDemoPerson(instance)
        return demo?.email
      }),
    )
    expect({
      round,
      announced,
      users: await ctx.db.user.count(),
      apps: await ctx.db.connectedApp.count(),
      profiles: await ctx.db.profile.count(),
    }).toEqual({ round, announced: instances.map(() => 'demo@example.com'), users: 2, apps: 1, profiles: 1 })
  }
})
