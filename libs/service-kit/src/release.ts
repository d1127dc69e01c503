import manifest from '../package.json' with { type: 'json' };

/** The release that this process runs. All packages of the repository have the same version. */
export const release: string = manifest.version;
