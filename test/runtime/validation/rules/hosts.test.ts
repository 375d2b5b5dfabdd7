import t from 'tap'
import { hostsIn } from '../../../../runtime/validation/model/addresses.ts'
import { findHosts } from '../../../../runtime/validation/rules/hosts.ts'

void t.test('hosts of URLs, JDBC URLs, addresses and host keys are found', async (t) => {
  const rows: [string, string, string[]][] = [
    ['url', 'tcp://broker.example.com:1883', ['broker.example.com']],
    ['connectURL', 'jdbc:postgresql://db:5432/x', ['db']],
    ['connectURL', 'jdbc:oracle:thin:@db.example.com:1521:XE', ['db.example.com']],
    ['connectURL', 'jdbc:oracle:thin:@//db:1521/XE', ['db']],
    ['connectURL', 'jdbc:sqlserver://db\\SQL;databaseName=x', ['db\\sql']],
    ['connectURL', 'jdbc:mysql://a:1,b:2/x', ['a', 'b']],
    ['connectURL', 'jdbc:sqlite:${data}/a.db', []],
    ['endpoint', 'opc.tcp://[fd00::1]:4840', ['fd00::1']],
    ['x', '10.1.2.3', ['10.1.2.3']],
    ['x', '10.1.2.3:502', ['10.1.2.3']],
    ['version', '10.1.2.3', []],
    ['hostname', 'plc-7', ['plc-7']],
    ['hostName', '<localhost>', []],
    ['title', 'plc-7', []],
    ['note', 'see https://example.com for more', []],
    ['url', 'file:///a/b', []],
    ['url', 'https://user:secret@example.com/', ['example.com']],
    ['connectionString', 'Server=sql01;Database=erp;Integrated Security=true', ['sql01']],
    ['x', 'Data Source=tcp:sql01.example.com\\ERP,1433;Initial Catalog=erp', ['sql01.example.com']],
    ['x', 'Server=(local);Database=erp', ['localhost']],
    ['x', 'DSN=Plant;UID=sa', []],
    ['x', 'fd00:20::15', ['fd00:20::15']],
    ['x', '[fd00:20::15]:502', ['fd00:20::15']],
    ['x', 'plc01:502', ['plc01']],
    ['x', 'plant:502', []],
    ['x', 'historian.plant.example.com', ['historian.plant.example.com']],
    ['x', 'com.example.module', []],
    ['smtpServer', 'mail', ['mail']],
    ['serverName', 'north', ['north']],
  ]
  for (const [key, value, hosts] of rows) t.strictSame(hostsIn(value, key), hosts, `${key}: ${value}`)
})

void t.test('a result contains the location and never the value', async (t) => {
  const config = {
    settings: { auth: { password: 'p4ss' }, hosts: [{ host: 'a' }, { host: 'localhost' }], retries: 3 },
    secret: { type: 'Embedded', data: { ciphertext: 'c', encrypted_key: 'k' } },
    reference: { type: 'Referenced', data: { providerName: 'vault', secretName: 'db' } },
  }
  t.strictSame(findHosts(config, 'm/t/n', 'config.json'), [
    { kind: 'password', at: 'settings.auth.password' },
    { kind: 'host', at: 'settings.hosts.host' },
    { kind: 'encrypted', at: 'secret' },
  ])
})

void t.test('an encrypted value is readable unless its header names a custom key', async (t) => {
  const value = (header: unknown): object => ({
    ciphertext: 'c',
    encrypted_key: 'k',
    protected: Buffer.from(JSON.stringify(header)).toString('base64url'),
  })
  const kindOf = (data: object): unknown => findHosts({ secret: { type: 'Embedded', data } }, 'm/t/n', 'config.json')[0]?.kind
  t.equal(kindOf(value({ alg: 'A256GCMKW', enc: 'A256GCM' })), 'readable')
  t.equal(kindOf(value({ alg: 'A256GCMKW', enc: 'A256GCM', kid: 'plant' })), 'encrypted')
  t.equal(kindOf(value('no object')), 'encrypted')
  t.equal(kindOf({ ...value({}), protected: '{' }), 'encrypted')
})

void t.test('values of a default gateway are not reported', async (t) => {
  const own = { settings: { authentication: { password: 'x' }, security: { keyStoreAliasPassword: 'y' } } }
  t.strictSame(findHosts(own, 'ignition/opc-connection/ignition opc ua server', 'config.json'), [])
  t.equal(findHosts(own, 'ignition/opc-connection/other', 'config.json').length, 2)
  t.strictSame(findHosts([{ password: 'hash' }], 'ignition/user-source/default', 'users.json'), [])
  t.equal(findHosts([{ password: 'hash' }], 'ignition/user-source/plant', 'users.json').length, 1)
  t.strictSame(
    findHosts({ urlFormat: 'jdbc:mysql://host:3306/db', tokenHash: 'x', passwordDate: '2026-01-01' }, 'm/t/n', 'config.json'),
    [],
  )
  t.strictSame(findHosts({ multicastIPAddr: '231.1.1.1', bind: ['0.0.0.0', '127.0.0.1', '::1'], password: '' }, 'm/t', 'config.json'), [])
})
