/** How the servers of one start are brought up. */
export interface ServerContext {
  dataDir: string;
  fresh: boolean;
  log: (line: string) => void;
  env: NodeJS.ProcessEnv;
}
