import { BashSession } from 'agent-bash';
import { mkdtempSync, mkdirSync } from 'node:fs';
const dir = mkdtempSync('/var/tmp/proj-'); 
for (let i=0;i<6;i++){ const s=new BashSession({cwd:dir,confine:'workspace'}); const {notes}=await s.run('true'); await s.close(); let p=0; console.log(notes.map(n=>{const [t,...r]=n.split(' '); const d=p?t-p:0; p=+t; return r.join(' ').trim()+':'+d}).join(' ')); await new Promise(r=>setTimeout(r,300)); }
