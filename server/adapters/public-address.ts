import { BlockList, isIP } from 'node:net'

/** The IANA special-purpose registries: addresses of no public host, and addresses that embed another address. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the agent of an Azure host
  '169.254.0.0/16', // link-local, and the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]
/** All other ranges are unassigned, local, multicast, or embed an IPv4 address (::ffff:0:0/96, 64:ff9b::/96). */
const GLOBAL_IPV6 = '2000::/3'
const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]

const special = toList([...SPECIAL_IPV4, ...SPECIAL_IPV6])
const global = toList([GLOBAL_IPV6])

/** Whether a text is the IP address of a public host on the Internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

function toList(networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string]
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
