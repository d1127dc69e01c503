declare module 'zulip-js' {
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field by the tests.
  type Answer = Record<string, any> & { result: string };
  type Call = (params?: Record<string, unknown>) => Promise<Answer>;
  export interface Client {
    queues: { register: Call; deregister: Call };
    events: { retrieve: Call };
    messages: {
      send: Call;
      retrieve: Call;
      update: Call;
      render: Call;
      getById: Call;
      getHistoryById: Call;
      deleteById: Call;
      flags: { add: Call; remove: Call };
    };
    reactions: { add: Call; remove: Call };
    typing: { send: Call };
    emojis: { retrieve: Call };
    filters: { retrieve: Call };
    server: { settings: Call };
    streams: {
      retrieve: Call;
      getStreamId: (name: string) => Promise<Answer>;
      subscriptions: { retrieve: Call };
      topics: { retrieve: Call };
    };
    users: {
      retrieve: Call;
      me: {
        getProfile: () => Promise<Answer>;
        pointer: { retrieve: Call };
        alertWords: { retrieve: Call };
        subscriptions: { add: Call; remove: Call };
      };
    };
  }
  export default function zulip(config: {
    username: string;
    password?: string;
    apiKey?: string;
    realm: string;
  }): Promise<Client>;
}
