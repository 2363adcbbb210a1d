import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { placesOf } from '@/testing/completed-withdrawal'
import { TABLES_WITH_TEXTS } from '@/testing/later-steps'
import { emailStatus, givenPerson } from '@/testing/person'
import { givenWorld } from '@/testing/world'

test('the search finds a person in every table with personal fields, and nowhere else, before a withdrawal', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const instance = await world.start()
  const person = await givenPerson(world, instance)
  expect(await placesOf(world, [person.mark])).toEqual(TABLES_WITH_TEXTS.map((table) => `table ${table}`))
  expect(await placesOf(world, [person.token])).toEqual([])
  await writeFile(path.join(world.dataDir, 'left-behind'), Buffer.from(`x ${person.mark} x`))
  await emailStatus(instance, person)
  expect(await placesOf(world, [person.mark])).toContain('file left-behind')
  expect(await placesOf(world, [person.id])).toContain('log of an instance')
})
