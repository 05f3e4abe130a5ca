// One round trip with the types of openapi-typescript: prints what it got as JSON.
import createClient from "openapi-fetch";
import type { components, paths } from "./askback";

declare const process: { argv: string[] };

async function main(): Promise<void> {
  const [, , baseUrl, token, formId] = process.argv;
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const created = await client.POST("/drafts", { body: { title: "Rota", questions: ["Who?"] } });
  const draft: components["schemas"]["FormDraft"] = created.data!;
  const path = { draftId: draft.draftId };
  const changed = await client.PATCH("/drafts/{draftId}", {
    params: { path },
    body: { questions: ["Who?", { text: "Why?" }], responseLimit: "one" },
  });
  const published = await client.POST("/drafts/{draftId}/publish", { params: { path } });
  const listed = await client.GET("/forms");
  const form = await client.GET("/forms/{formId}", { params: { path: { formId } } });
  const responses = await client.GET("/forms/{formId}/responses", {
    params: { path: { formId }, query: { since: "2020-01-01T00:00:00Z" } },
  });
  const refused = await client.POST("/drafts", { body: { title: "x".repeat(121) } });
  const unknown = await client.GET("/forms/{formId}", { params: { path: { formId: "tomorrow" } } });
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
