-- sessions
INSERT INTO response_sessions (id, form_id, key_hash, status, responder_name, skipped,
  answered, answer_count, suspect, created_at, last_active_at, completed_stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions)
SELECT :form || '-s-' || s, :form, :form || '-key-' || s, 'completed', 'Robin', '[]',
  '{}', :step - 1, false, :base + :step * s, :base + :step * s, :base + :step * (s + 1) FROM n;

-- answers
INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
  response_type, question_kind, answer_key, word_count, superseded, stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(q) AS (SELECT 1 UNION ALL SELECT q + 1 FROM m WHERE q < 10)
SELECT :form || '-a-' || s || '-' || q, :form, :form || '-s-' || s, 'q_' || q,
  'What went wrong in step ' || q || '?', :words, 'text', 'scripted', 'key-' || q, 28,
  false, :base + :step * s + q FROM n CROSS JOIN m;

-- follow_up_answers: all to the first question, each because of the answer before it
INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
  response_type, question_kind, parent_question_id, answer_key, word_count, superseded, stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM m WHERE d < :follow_ups)
SELECT :form || '-a-' || s || '-1-' || d, :form, :form || '-s-' || s,
  :form || '-q-' || s || '-' || d, 'What came of it?', :words, 'text', 'followup', 'q_1',
  'key-f-' || d, 28, false, :base + :step * s + 10 + d FROM n CROSS JOIN m;

-- follow_ups
INSERT INTO follow_ups (id, form_id, session_id, parent_question_id, answer_id, state, depth,
  question_text, technique, reason, writer, created_at)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM m WHERE d < :follow_ups)
SELECT :form || '-q-' || s || '-' || d, :form, :form || '-s-' || s, 'q_1',
  :form || '-a-' || s || '-1' || CASE d WHEN 1 THEN '' ELSE '-' || (d - 1) END, 'asked', d,
  'What came of it?', 'impact', 'deeper', '', :base + :step * s FROM n CROSS JOIN m;

-- counts
INSERT INTO question_counts (form_id, question_id, answered, skipped)
WITH RECURSIVE m(q) AS (SELECT 1 UNION ALL SELECT q + 1 FROM m WHERE q < 10)
SELECT :form, 'q_' || q, :sessions, 0 FROM m WHERE true
ON CONFLICT (form_id, question_id)
  DO UPDATE SET answered = question_counts.answered + excluded.answered;

-- days
INSERT INTO day_counts (form_id, day, completed)
SELECT form_id, completed_stamp / 86400000, count(*) FROM response_sessions
WHERE form_id = :form AND completed_stamp > :base GROUP BY 1, 2
ON CONFLICT (form_id, day) DO UPDATE SET completed = day_counts.completed + excluded.completed;
