import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

/** Folders of workspace packages under `libs` and `services`, each with the folders whose code it runs, itself too. */
export function packageFolders(root: string): Map<string, Set<string>> {
  const folders = ['libs', 'services'].flatMap((group) =>
    readdirSync(join(root, group), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${group}/${entry.name}`),
  );
  const manifests = folders.map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest,
  }));
  const byName = new Map(manifests.map((one) => [one.manifest.name, one]));
  const reach = (folder: string, manifest: Manifest, found: Set<string>): Set<string> => {
    if (found.has(folder)) return found;
    found.add(folder);
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      const used = byName.get(name);
      if (used) reach(used.folder, used.manifest, found);
    }
    return found;
  };
  return new Map(manifests.map(({ folder, manifest }) => [folder, reach(folder, manifest, new Set())]));
}
