declare module 'zulip-js' {
  type Call = (params?: Record<string, unknown>) => Promise<Record<string, unknown> & { result: string }>;
  export interface Client {
    queues: { register: Call; deregister: Call };
    events: { retrieve: Call };
    messages: { send: Call };
    users: { me: { getProfile: () => ReturnType<Call> } };
  }
  export default function zulip(config: {
    username: string;
    password?: string;
    apiKey?: string;
    realm: string;
  }): Promise<Client>;
}
