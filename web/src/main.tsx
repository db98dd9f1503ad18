import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { followForever } from "./data/live.ts";
import { finishSignIn } from "./data/sign-in.ts";
import { showTheme } from "./theme.ts";
import "./style/tokens.css";
import "./style/page.css";
import "./style/attention.css";
import "./style/table.css";
import "./style/controls.css";
import "./style/search.css";
import "./style/tools.css";
import "./style/facts.css";
import "./style/dialog.css";
import "./style/lists.css";
import "./style/charts.css";
import "./style/pool.css";
import "./style/tiles.css";
import "./style/clusters.css";
import "./style/phone.css";

showTheme();
void finishSignIn().then(followForever);
const root = document.getElementById("page");
if (root === null) throw new Error("Cannot show the page: its root element is missing");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
