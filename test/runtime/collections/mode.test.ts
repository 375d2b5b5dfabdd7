import t from 'tap'
import { configuredMode, findMode, modeInArgument, modeInIgnitionConf } from '../../../runtime/collections/model/mode.ts'

void t.test('the argument wins over ignition.conf, that over the environment', async (t) => {
  const all = {
    argument: '-n gw -- -Dignition.config.mode=prod',
    ignitionConf: 'wrapper.java.additional.3=-Dignition.config.mode=dev',
    environment: 'test',
  }
  t.same(findMode(all), { name: 'prod', from: 'argument' })
  t.same(findMode({ ...all, argument: undefined }), { name: 'dev', from: 'ignition.conf' })
  t.same(findMode({ environment: 'test' }), { name: 'test', from: 'environment' })
  t.same(findMode({ environment: '' }), { name: '', from: 'none' })
  t.same(findMode({}), { name: '', from: 'none' })
})

void t.test('a running gateway is believed, and a named target before everything', async (t) => {
  const configured = { name: 'prod', from: 'argument' }
  t.same(findMode({ argument: '-Dignition.config.mode=prod', gateway: '' }), { name: '', from: 'gateway', configured })
  t.same(findMode({ argument: '-Dignition.config.mode=prod', gateway: 'dev' }), { name: 'dev', from: 'gateway', configured })
  t.same(findMode({ argument: '-Dignition.config.mode=prod', gateway: 'Prod' }), { name: 'Prod', from: 'gateway' })
  t.same(findMode({ gateway: 'dev' }), { name: 'dev', from: 'gateway' })
  t.same(findMode({ target: 'x', gateway: 'dev' }), { name: 'x', from: 'target' })
  t.same(configuredMode({ argument: '-Dignition.config.mode=prod', gateway: 'dev' }), { name: 'prod', from: 'argument' })
})

void t.test('the last occurrence of the property counts, quotes are no part of it', async (t) => {
  t.equal(modeInArgument('-Dignition.config.mode=a -Dignition.config.mode=b'), 'b')
  t.equal(modeInArgument('-Dignition.config.mode="my mode" -Dx=1'), 'my mode')
  t.equal(modeInArgument('-Dignition.config.modes=a'), undefined)
})

void t.test('a commented line of ignition.conf sets nothing', async (t) => {
  t.equal(modeInIgnitionConf('#wrapper.java.additional.1=-Dignition.config.mode=a\n'), undefined)
  t.equal(modeInIgnitionConf('x=1\r\n wrapper.java.additional.12 = -Dignition.config.mode=a\r\n'), 'a')
})
