import { getContainerRuntimeClient } from 'testcontainers';

export type Docker = Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['dockerode'];
export const openDocker = async (): Promise<Docker> => (await getContainerRuntimeClient()).container.dockerode;

export interface ContainerRecipe {
  name: string;
  image: string;
  /** Docker names of the networks; the first is never disconnected. The container has its name on each of them. */
  networks: string[];
  labels: Record<string, string>;
  env?: Record<string, string>;
  command?: string[];
  entrypoint?: string[];
  /** `host path:container path:ro` or `volume:path`. */
  binds?: string[];
  /** Ports published on the loopback interface. */
  ports?: number[];
  /** Further names of the container on its networks. */
  aliases?: string[];
  /** User and group by number. */
  user?: string;
  /** Paths in memory, with mount options. */
  tmpfs?: Record<string, string>;
  /** Restarted whenever it exits, like in Kubernetes. */
  restarts?: boolean;
  /** Restricts the container like in the chart: read-only, no capabilities, no new privileges. */
  hardened?: boolean;
}

/** One container, with the faults that can be injected from outside. */
export interface Box {
  readonly name: string;
  readonly image: string;
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM, then SIGKILL after `graceSeconds`. Returns the exit code. */
  stop(graceSeconds: number): Promise<number>;
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Disconnected from the network, connections hang; then reconnected under the same name. */
  cut(network: string): Promise<void>;
  heal(network: string): Promise<void>;
  exec(command: string[]): Promise<{ code: number; output: string }>;
  /** Waits for the exit; returns standard output and error together. */
  finished(): Promise<{ code: number; output: string }>;
  logs(): Promise<string>;
  portOf(port: number): Promise<number>;
  isRunning(): Promise<boolean>;
  remove(): Promise<void>;
}

export async function createBox(docker: Docker, prefix: string, recipe: ContainerRecipe): Promise<Box> {
  const { name, networks } = recipe;
  const ports = recipe.ports ?? [];
  const aliases = [name, ...(recipe.aliases ?? [])];
  const container = await docker.createContainer({
    name: `${prefix}-${name}`,
    Image: recipe.image,
    Labels: recipe.labels,
    Env: Object.entries(recipe.env ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(recipe.user ? { User: recipe.user } : {}),
    ...(recipe.command ? { Cmd: recipe.command } : {}),
    ...(recipe.entrypoint ? { Entrypoint: recipe.entrypoint } : {}),
    ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
    HostConfig: {
      NetworkMode: networks[0] ?? 'none',
      Binds: recipe.binds ?? [],
      Tmpfs: recipe.tmpfs ?? {},
      RestartPolicy: { Name: recipe.restarts ? 'always' : 'no' },
      PortBindings: Object.fromEntries(ports.map((port) => [`${port}/tcp`, [{ HostIp: '127.0.0.1', HostPort: '' }]])),
      ...(recipe.hardened
        ? { ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], Memory: 512 * 1024 * 1024 }
        : {}),
    },
    NetworkingConfig: { EndpointsConfig: networks[0] ? { [networks[0]]: { Aliases: aliases } } : {} },
  });
  const join = (network: string): Promise<unknown> =>
    docker.getNetwork(network).connect({ Container: container.id, EndpointConfig: { Aliases: aliases } });
  for (const network of networks.slice(1)) await join(network);

  const logs = async (): Promise<string> => demultiplex(await container.logs({ stdout: true, stderr: true }));
  return {
    name,
    image: recipe.image,
    start: async () => void (await container.start()),
    kill: async () => {
      await container.kill();
      await container.wait();
    },
    stop: async (graceSeconds) => {
      await container.stop({ t: graceSeconds }).catch(ignoreStopped);
      return (await container.wait()).StatusCode as number;
    },
    pause: async () => {
      // A process that waits for the disk can't be frozen at once.
      for (let attempt = 1; ; attempt++) {
        try {
          await container.pause();
          return;
        } catch (error) {
          if (attempt === 10) throw error;
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
      }
    },
    unpause: async () => void (await container.unpause()),
    cut: async (network) =>
      void (await docker.getNetwork(network).disconnect({ Container: container.id, Force: true })),
    heal: async (network) => void (await join(network)),
    exec: async (command) => {
      const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true });
      const stream = await exec.start({});
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      return { code: (await exec.inspect()).ExitCode ?? -1, output: demultiplex(Buffer.concat(chunks)) };
    },
    finished: async () => {
      const { StatusCode } = (await container.wait()) as { StatusCode: number };
      return { code: StatusCode, output: await logs() };
    },
    logs,
    portOf: async (port) => {
      const { NetworkSettings } = await container.inspect();
      return Number(NetworkSettings.Ports[`${port}/tcp`]?.[0]?.HostPort);
    },
    isRunning: async () => (await container.inspect()).State.Running,
    remove: async () => void (await container.remove({ force: true, v: true }).catch(() => undefined)),
  };
}

const ignoreStopped = (error: unknown): void => {
  if ((error as { statusCode?: number }).statusCode !== 304) throw error;
};

/** Docker's frames: a byte for the stream, three zero bytes, four bytes of length. */
function demultiplex(buffer: Buffer): string {
  let text = '';
  for (let at = 0; at + 8 <= buffer.length; ) {
    const length = buffer.readUInt32BE(at + 4);
    text += buffer.toString('utf8', at + 8, at + 8 + length);
    at += 8 + length;
  }
  return text;
}
