import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helm, type KubernetesObject, render } from '@natter/helm';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { type Box, createBox, openDocker } from './container.ts';
import { sweep } from './sweep.ts';

const { images, skipped } = inject('containers');
const reason = skipped ?? (helm === undefined ? 'there is no helm binary' : undefined);

/**
 * The evaluation mode of the chart without Kubernetes: its pods run as containers, with the users, arguments, secrets,
 * mounts and names of the rendered objects, all at once; then the migration job and the pod of `helm test`.
 */
describe.skipIf(reason !== undefined)(`the chart in evaluation mode${reason ? `: SKIPPED: ${reason}` : ''}`, () => {
  const run = `natter-chart-${randomBytes(3).toString('hex')}`;
  const labels = { 'natter.e2e': String(process.pid) };
  const boxes: Box[] = [];
  const files = mkdtempSync(join(tmpdir(), `${run}-`));
  afterAll(async () => {
    await Promise.all(boxes.map((box) => box.remove()));
    const docker = await openDocker();
    await docker
      .getNetwork(run)
      .remove()
      .catch(() => undefined);
    rmSync(files, { recursive: true, force: true });
  });

  test('starts all parts with working addresses and permissions', async () => {
    const [repository, tag] = images?.natter.split(':') ?? [];
    const objects = render({
      values: {
        image: { repository, tag },
        evaluation: {
          enabled: true,
          postgresImage: images?.postgres,
          redisImage: images?.redis,
          natsImage: images?.nats,
        },
        // There is no Service here that maps one port to another.
        gateway: { service: { port: 9991 } },
      },
    });
    const secrets = new Map(
      objects.filter(({ kind }) => kind === 'Secret').map(({ metadata, stringData }) => [metadata.name, stringData]),
    );
    const docker = await openDocker();
    await sweep(docker);
    await docker.createNetwork({ Name: run, Labels: labels });
    const start = async ({ metadata, kind, spec }: KubernetesObject): Promise<Box> => {
      const pod = kind === 'Pod' ? spec : spec.template.spec;
      const [container] = pod.containers;
      const { runAsUser, runAsGroup } = pod.securityContext;
      const env = environmentOf(container, secrets);
      const box = await createBox(docker, run, {
        name: `${metadata.name}-${boxes.length}`,
        aliases: [metadata.name],
        image: container.image,
        networks: [run],
        labels,
        user: `${runAsUser}:${runAsGroup}`,
        env,
        command: container.args.map((arg: string) => arg.replace(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? '')),
        ...mountsOf(pod, container, secrets, files),
        restarts: kind === 'Deployment' || kind === 'StatefulSet',
        hardened: true,
      });
      boxes.push(box);
      await box.start();
      return box;
    };
    for (const object of objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet'))
      await start(object);

    const untilDone = async (object: KubernetesObject): Promise<string> => {
      for (const deadline = Date.now() + 90_000; ; ) {
        const { code, output } = await (await start(object)).finished();
        if (code === 0) return output;
        if (Date.now() > deadline) throw new Error(`${object.metadata.name}: ${output}`);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    };
    const find = (kind: string): KubernetesObject => objects.find((object) => object.kind === kind) as KubernetesObject;
    expect(await untilDone(find('Job'))).toContain('the database is up to date');
    const doctor = find('Pod');
    // No realm exists yet: the first one is created as the notes say.
    const admin = structuredClone(doctor);
    admin.metadata.name = 'admin';
    const realm = ['--host', 'chat.example.com', '--name', 'Example', '--owner-email', 'you@example.com', '--default'];
    admin.spec.containers[0].args = ['realm', 'create', ...realm];
    expect(await untilDone(admin)).toContain('api_key: ');
    const output = await untilDone(doctor);
    expect(output).not.toContain('FAIL');
    expect(output).toContain('answered for "Example"');
  });
});

// biome-ignore lint/suspicious/noExplicitAny: parts of rendered objects.
type Any = any;
type Secrets = ReadonlyMap<string, Record<string, string>>;

function environmentOf(container: Any, secrets: Secrets): Record<string, string> {
  const env: Record<string, string> = {};
  for (const { secretRef } of container.envFrom ?? []) {
    const secret = secrets.get(secretRef.name);
    if (!secret) throw new Error(`${container.name} wants the Secret ${secretRef.name}`);
    Object.assign(env, secret);
  }
  for (const { name, value, valueFrom } of container.env ?? [])
    env[name] = value ?? secrets.get(valueFrom.secretKeyRef.name)?.[valueFrom.secretKeyRef.key] ?? '';
  return env;
}

/** Secrets become files, other volumes become tmpfs owned by the pod's user, like fsGroup. */
function mountsOf(pod: Any, container: Any, secrets: Secrets, files: string) {
  const uid: number = pod.securityContext.runAsUser;
  const tmpfs: Record<string, string> = {};
  const binds: string[] = [];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const secretName = pod.volumes?.find((volume: Any) => volume.name === name)?.secret?.secretName;
    if (secretName === undefined) {
      tmpfs[mountPath] = `uid=${uid},gid=${uid},mode=755`;
      continue;
    }
    const directory = join(files, secretName);
    mkdirSync(directory, { recursive: true });
    for (const [file, text] of Object.entries(secrets.get(secretName) ?? {}))
      writeFileSync(join(directory, file), text);
    chmodSync(directory, 0o755);
    chmodSync(files, 0o755);
    binds.push(`${directory}:${mountPath}:ro`);
  }
  return { tmpfs, binds };
}
