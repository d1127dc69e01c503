// Loaded into processes by `--import`: names are looked up at NATTER_TEST_NAME_SERVER alone, not by the operating system.
import { promises } from 'node:dns';

const { Resolver } = promises;
promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.NATTER_TEST_NAME_SERVER]);
  }
};
promises.lookup = (name) => Promise.reject(Object.assign(new Error(`EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' }));
