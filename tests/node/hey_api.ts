// One round trip with the client that hey-api makes: prints what it got as JSON.
import * as askback from "./hey";
import { client } from "./hey/client.gen";

declare const process: { argv: string[] };

async function main(): Promise<void> {
  const [, , baseUrl, token, formId] = process.argv;
  client.setConfig({ baseUrl, auth: token });
  const created = await askback.createServiceDraft({
    body: { title: "Rota", questions: ["Who?"] },
  });
  const path = { draftId: created.data!.draftId };
  const changed = await askback.updateServiceDraft({
    path,
    body: { questions: ["Who?", { text: "Why?" }], responseLimit: "one" },
  });
  const published = await askback.publishServiceDraft({ path });
  const listed = await askback.listService();
  const form = await askback.getService({ path: { formId } });
  const responses = await askback.getServiceResponses({
    path: { formId },
    query: { since: "2020-01-01T00:00:00Z" },
  });
  const refused = await askback.createServiceDraft({ body: { title: "x".repeat(121) } });
  const unknown = await askback.getService({ path: { formId: "tomorrow" } });
  const code: string | undefined = unknown.error?.code;
  console.log(
    JSON.stringify({
      questions: changed.data!.questions.length,
      limit: published.data!.responseLimit,
      forms: listed.data!.formCount,
      title: form.data!.title,
      answer: responses.data!.responses[0].answers[0].answerText,
      refused: refused.error!.code,
      unknown: code,
    }),
  );
}

void main();
