import t from 'tap'
import { configuredMode, findMode, modeInArgument, modeInIgnitionConf } from '../../../runtime/api/mode.ts'

void t.test('the argument wins over ignition.conf, which wins over the environment', async (t) => {
  const all = {
    argument: '-n gw -- -Dignition.config.mode=prod',
    ignitionConf: 'wrapper.java.additional.3=-Dignition.config.mode=dev',
    environment: 'test',
  }
  t.strictSame(findMode(all), { name: 'prod', from: 'Argument' })
  t.strictSame(findMode({ ...all, argument: undefined }), { name: 'dev', from: 'IgnitionConf' })
  t.strictSame(findMode({ environment: 'test' }), { name: 'test', from: 'Environment' })
  t.strictSame(findMode({ environment: '' }), { name: '', from: 'None' })
  t.strictSame(findMode({}), { name: '', from: 'None' })
})

void t.test('the mode of a running gateway wins over the configured one, and a named target over both', async (t) => {
  const configured = { name: 'prod', from: 'Argument' }
  t.strictSame(findMode({ argument: '-Dignition.config.mode=prod', gateway: '' }), { name: '', from: 'Gateway', configured })
  t.strictSame(findMode({ argument: '-Dignition.config.mode=prod', gateway: 'dev' }), { name: 'dev', from: 'Gateway', configured })
  t.strictSame(findMode({ argument: '-Dignition.config.mode=prod', gateway: 'Prod' }), { name: 'Prod', from: 'Gateway' })
  t.strictSame(findMode({ gateway: 'dev' }), { name: 'dev', from: 'Gateway' })
  t.strictSame(findMode({ target: 'x', gateway: 'dev' }), { name: 'x', from: 'Target' })
  t.strictSame(configuredMode({ argument: '-Dignition.config.mode=prod', gateway: 'dev' }), { name: 'prod', from: 'Argument' })
})

void t.test('the last occurrence of the property wins, and quotes are not part of the value', async (t) => {
  t.equal(modeInArgument('-Dignition.config.mode=a -Dignition.config.mode=b'), 'b')
  t.equal(modeInArgument('-Dignition.config.mode="my mode" -Dx=1'), 'my mode')
  t.equal(modeInArgument('-Dignition.config.modes=a'), undefined)
})

void t.test('a commented line of ignition.conf sets nothing', async (t) => {
  t.equal(modeInIgnitionConf('#wrapper.java.additional.1=-Dignition.config.mode=a\n'), undefined)
  t.equal(modeInIgnitionConf('x=1\r\n wrapper.java.additional.12 = -Dignition.config.mode=a\r\n'), 'a')
})
