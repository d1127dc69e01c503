import grammars from 'highlight.js';
import katex from 'katex';
import { heavy } from './heavy.ts';
import { ShortClassEmitter } from './highlight.ts';

grammars.configure({ __emitter: ShortClassEmitter });
heavy.grammars = grammars;
heavy.typesetter = katex;
heavy.usedMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
